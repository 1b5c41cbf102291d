// Compares the public API of each library with its snapshot, `tests/api/NAME.txt`.
//
// `node scripts/checks/api.mjs --write` updates the snapshots.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Remedy, Skip, exitWith, root, run } from "../process.mjs";
import { each } from "./must.mjs";
import { nightly } from "./nightly.mjs";

/** The libraries of the repository. */
const names = ["cuda-c", "pagepress", "wgsl-ptx"];

const snapshotOf = (name) => path.join(root, "tests", "api", `${name}.txt`);

/** Returns the lines of `one` that are not in `other`, prefixed with `sign`. */
const only = (sign, one, other) => one.filter((line) => !other.has(line)).map((line) => `${sign} ${line}`);

/** Returns the list with the path of `std::io` that documents use: nightlies move its items between crates. */
const withStdIo = (text) => text.replaceAll(/\b(?:core|alloc|std)::io::(?:[a-z_]+::)*/g, "std::io::");

/** Returns the public items of a library, listed by the built program. Its output is captured and not forwarded. */
function list(name, env) {
  const lister = path.join(env.CARGO_TARGET_DIR, "debug", "pagepress-test-api");
  const { status, stdout } = spawnSync(lister, [name], {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 30 * 60_000,
  });
  if (status !== 0) throw new Remedy(`the public API of ${name} cannot be listed`);
  return stdout;
}

/** Compares the public items of a library with its snapshot. */
function compare(name, listed) {
  const [wanted, found] = [readFileSync(snapshotOf(name), "utf8"), listed].map((text) => withStdIo(text).split("\n"));
  const changes = [...only("-", wanted, new Set(found)), ...only("+", found, new Set(wanted))];
  if (changes.length === 0) return console.log(`${name}: ${found.length} public items, as in tests/api/${name}.txt`);
  const remedy = "If this is intended: node scripts/checks/api.mjs --write";
  throw new Remedy(`the public API of ${name} changed:\n${changes.join("\n")}\n${remedy}`);
}

await exitWith(async () => {
  const isWriting = process.argv.includes("--write");
  const missing = names.filter((name) => !existsSync(snapshotOf(name)));
  if (!isWriting && missing.length > 0) throw new Skip(`no snapshot of ${missing.join(", ")} yet: node scripts/checks/api.mjs --write`);
  await nightly();
  const env = { CARGO_TARGET_DIR: path.join(root, "target", "api") };
  const built = await run("cargo", ["build", "--manifest-path", "tests/api/Cargo.toml"], { env });
  if (built.code !== 0) throw new Skip("the lister of public items cannot be built");
  await each(names.map((name) => [name, name]), (name) => {
    const listed = list(name, env);
    if (isWriting) writeFileSync(snapshotOf(name), withStdIo(listed));
    else compare(name, listed);
  });
});
