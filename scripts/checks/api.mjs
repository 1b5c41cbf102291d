// Compares the public API with the snapshot `tests/api/pagepress.txt`.
//
// `node scripts/checks/api.mjs --write` updates the snapshot.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { Remedy, Skip, exitWith, root, run } from "../process.mjs";
import { nightly } from "./nightly.mjs";

const snapshot = path.join(root, "tests", "api", "pagepress.txt");

/** Returns the lines of `one` that are not in `other`, prefixed with `sign`. */
const only = (sign, one, other) => one.filter((line) => !other.has(line)).map((line) => `${sign} ${line}`);

/** Returns the list with the path of `std::io` that documents use: nightlies move its items between crates. */
const withStdIo = (text) => text.replaceAll(/\b(?:core|alloc|std)::io::(?:[a-z_]+::)*/g, "std::io::");

/** Runs the built program that lists the public items. Its output is captured and not forwarded. */
function list(env) {
  return spawnSync(path.join(env.CARGO_TARGET_DIR, "debug", "pagepress-test-api"), {
    cwd: root,
    encoding: "utf8",
    env: { ...process.env, ...env },
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "inherit"],
    timeout: 30 * 60_000,
  });
}

await exitWith(async () => {
  const isWriting = process.argv.includes("--write");
  if (!isWriting && !existsSync(snapshot)) throw new Skip("no tests/api/pagepress.txt yet: node scripts/checks/api.mjs --write");
  await nightly();
  const env = { CARGO_TARGET_DIR: path.join(root, "target", "api") };
  const built = await run("cargo", ["build", "--manifest-path", "tests/api/Cargo.toml"], { env });
  if (built.code !== 0) throw new Skip("the lister of public items cannot be built");
  const { status, stdout } = list(env);
  if (status !== 0) throw new Remedy("the public API cannot be listed");
  if (isWriting) return writeFileSync(snapshot, withStdIo(stdout));
  const [wanted, found] = [readFileSync(snapshot, "utf8"), stdout].map((text) => withStdIo(text).split("\n"));
  const changes = [...only("-", wanted, new Set(found)), ...only("+", found, new Set(wanted))];
  if (changes.length === 0) return console.log(`${found.length} public items, as in tests/api/pagepress.txt`);
  throw new Remedy(`the public API changed:\n${changes.join("\n")}\nIf this is intended: node scripts/checks/api.mjs --write`);
});
