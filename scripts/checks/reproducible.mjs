// Builds the CPU module in two folders and checks that the modules are equal.
import { createHash } from "node:crypto";
import { cp, mkdir, mkdtemp, readFile, rm, symlink } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import path from "node:path";
import { Remedy, ask, exitWith, root } from "../process.mjs";
import { must } from "./must.mjs";

/** Returns the tracked files of the checkout and the untracked ones that git does not ignore. */
const files = () => ask("git", ["ls-files", "--cached", "--others", "--exclude-standard"]).split("\n");

/** Copies the checkout to `folder`, builds the CPU module there and returns it. */
async function build(folder) {
  for (const file of files()) {
    await mkdir(path.dirname(path.join(folder, file)), { recursive: true });
    // Ignores files whose removal is not committed.
    await cp(path.join(root, file), path.join(folder, file)).catch((error) => {
      if (error.code !== "ENOENT") throw error;
    });
  }
  await symlink(path.join(root, "node_modules"), path.join(folder, "node_modules"));
  const print = 'import("./scripts/build/wasm.mjs").then((b) => console.log(JSON.stringify(b.compileArguments("cpu"))))';
  const args = JSON.parse(await must("node", ["--input-type=module", "--eval", print], { cwd: folder }));
  await must("cargo", args, { cwd: folder, env: { CARGO_TARGET_DIR: path.join(folder, "target") } });
  return readFile(path.join(folder, "target/wasm32-unknown-unknown/wasm/cpu.wasm"));
}

await exitWith(async () => {
  const place = await mkdtemp(path.join(tmpdir(), "pagepress-twice-"));
  try {
    const one = await build(path.join(place, "one"));
    const other = await build(path.join(place, "another/folder with a longer name"));
    const sums = [one, other].map((bytes) => createHash("sha256").update(bytes).digest("hex"));
    console.log(sums.join("\n"));
    if (!one.equals(other)) throw new Remedy("two builds in different folders differ");
    const folders = [place, root, process.env.CARGO_HOME ?? path.join(homedir(), ".cargo")];
    const named = folders.filter((folder) => one.includes(folder));
    if (named.length > 0) throw new Remedy(`the module contains paths of this machine: ${named.join(", ")}`);
  } finally {
    await rm(place, { recursive: true, force: true });
  }
});
