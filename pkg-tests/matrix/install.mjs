// Installs the tools of the matrix on first use, each dependency tree in its own folder under target/.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../scripts/build/run.mjs";
import { Remedy, run, Skip } from "../../scripts/process.mjs";

/** Installs the tree `name` of `folder` from its lock file and returns the folder of the tree. Throws a `Skip` without a network. */
export async function installTree(name, folder = "pkg-tests/matrix") {
  const from = join(root, folder, name);
  const to = join(root, "target/matrix", name);
  await mkdir(to, { recursive: true });
  const hash = createHash("sha256").update(await readFile(join(from, "package-lock.json"))).digest("hex");
  const mark = join(to, "node_modules/.pagepress-lock");
  if (existsSync(mark) && (await readFile(mark, "utf8")) === hash) return to;
  for (const file of ["package.json", "package-lock.json"]) await cp(join(from, file), join(to, file));
  await cp(join(root, ".npmrc"), join(to, ".npmrc"));
  const { code, output } = await run("npm", ["ci", "--no-fund", "--no-audit", "--loglevel=error"], { cwd: to, minutes: 10 });
  if (code !== 0 && /ENOTFOUND|ECONNREFUSED|ETIMEDOUT|EAI_AGAIN/.test(output)) {
    throw new Skip(`the npm registry cannot be reached, which the tools of ${name} come from`);
  }
  if (code !== 0) throw new Remedy(`\`npm ci\` failed in ${to}`);
  await writeFile(mark, hash);
  return to;
}
