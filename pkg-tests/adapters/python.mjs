// The Python libraries that the adapters are tested with, in a virtual environment under target/.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../../scripts/build/run.mjs";
import { findProgram } from "../../scripts/machine.mjs";
import { Remedy, run, Skip } from "../../scripts/process.mjs";

const OFFLINE = /No matching distribution|Temporary failure|Connection|ConnectTimeout|Max retries/i;

/** Installs the libraries on first use, and returns the path of Python. Throws a `Skip` without Python or network. */
export async function installPython() {
  const program = findProgram("python3", "python");
  if (!program) throw new Skip("there is no python3, whose libraries write and read the files of this test");
  const requirements = join(root, "pkg-tests/adapters/requirements.txt");
  const folder = join(root, "target/adapters/python");
  const python = join(folder, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
  const hash = createHash("sha256").update(await readFile(requirements)).digest("hex");
  const mark = join(folder, "installed");
  if (existsSync(mark) && (await readFile(mark, "utf8")) === hash) return python;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { code: made } = await run(program, ["-m", "venv", folder], { minutes: 5 });
  if (made !== 0) throw new Skip("python3 cannot make a virtual environment (Debian: apt-get install python3-venv)");
  const flags = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
  const { code, output } = await run(python, ["-m", "pip", "install", ...flags, "-r", requirements], { minutes: 15 });
  if (code !== 0 && OFFLINE.test(output)) throw new Skip("the Python packages of this test cannot be downloaded, or not for this Python");
  if (code !== 0) throw new Remedy(`pip failed in ${folder}`);
  await writeFile(mark, hash);
  return python;
}
