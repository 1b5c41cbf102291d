// Writes the files of `tests/gguf` with ggml's own Python package, in target/gguf, and compares them with those in the repository.
// Needs the network once. `packed.gguf` stays as it is: its blocks come from ggml's C sources, as `tests/gguf/write.py` says.
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { findProgram } from "../machine.mjs";
import { Remedy, Skip, exitWith, root, run } from "../process.mjs";

const OFFLINE = /No matching distribution|Temporary failure|Connection|ConnectTimeout|Max retries/i;
const tests = path.join(root, "tests", "gguf");
const folder = path.join(root, "target", "gguf");
const environment = path.join(folder, "environment");
const python = path.join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");

/** Makes the environment with the package, unless it is there. */
async function prepare() {
  const program = findProgram("python3", "python");
  if (!program) throw new Skip("there is no python3");
  const mark = path.join(environment, "installed");
  const requirements = path.join(tests, "requirements.txt");
  const wanted = await readFile(requirements, "utf8");
  if (existsSync(mark) && (await readFile(mark, "utf8")) === wanted) return;
  await rm(environment, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { code: made } = await run(program, ["-m", "venv", environment], { minutes: 5 });
  if (made !== 0) throw new Skip("python3 cannot make a virtual environment (Debian: apt-get install python3-venv)");
  const flags = ["--quiet", "--disable-pip-version-check", "--only-binary", ":all:"];
  const { code, output } = await run(python, ["-m", "pip", "install", ...flags, "-r", requirements], { minutes: 15 });
  if (code !== 0 && OFFLINE.test(output)) throw new Skip("the Python packages of this test cannot be downloaded, or not for this Python");
  if (code !== 0) throw new Remedy(`pip failed in ${environment}`);
  await writeFile(mark, wanted);
}

await exitWith(async () => {
  await prepare();
  const written = path.join(folder, "files");
  await rm(written, { recursive: true, force: true });
  await mkdir(written, { recursive: true });
  const { code } = await run(python, [path.join(tests, "write.py"), written]);
  if (code !== 0) throw new Remedy("write.py failed");
  const names = readdirSync(written);
  for (const name of names) {
    const [ours, theirs] = await Promise.all([path.join(tests, "files", name), path.join(written, name)].map((file) => readFile(file)));
    if (Buffer.compare(ours, theirs) !== 0) throw new Remedy(`tests/gguf/files/${name} differs from what write.py writes`);
  }
  console.log(`${names.length} passed; 0 failed`);
});
