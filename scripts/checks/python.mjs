// Builds the Python wheel without GPU engines, installs it in a fresh environment in target/python beside the libraries that it works with, and runs
// its tests, the types, python-lz4's own tests and the example of a cluster. Needs the network once.
//
// `--full` builds the wheel that users get, with wgpu and CUDA, from the source package; `--zarrs` also tests `examples/zarrs`. `PAGEPRESS_LZ4_TESTS=all` runs all of python-lz4's tests.
import { createHash } from "node:crypto";
import { existsSync, readdirSync } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { findProgram, lavapipe } from "../machine.mjs";
import { Remedy, Skip, exitWith, root, run } from "../process.mjs";

const OFFLINE = /No matching distribution|Temporary failure|Connection|ConnectTimeout|Max retries/i;
const package_ = path.join(root, "python");
const folder = path.join(root, "target", "python");
const environment = path.join(folder, "environment");
const python = path.join(environment, process.platform === "win32" ? "Scripts/python.exe" : "bin/python");
const pip = ["-m", "pip", "--quiet", "--disable-pip-version-check"];

async function must(command, args, options) {
  const { code, output } = await run(command, args, options);
  if (code !== 0) throw new Remedy(`failed with ${code}: ${path.basename(command)} ${args.join(" ")}`);
  return output;
}

/** Runs pytest, and prints its counts in the form that `npm test` adds up. Tests that fail as expected count as passed. */
async function pytest(args, options) {
  const output = await must(python, ["-m", "pytest", "-q", "--tb=short", "-p", "no:cacheprovider", ...args], options);
  const count = (word) => Number(new RegExp(`(\\d+) ${word}\\b`).exec(output.trim().split("\n").pop())?.[1] ?? 0);
  const passed = count("passed") + count("xfailed") + count("xpassed");
  console.log(`${passed} passed; 0 failed; ${count("skipped")} skipped`);
}

/** Runs pip, and skips the step if that fails for want of the network. */
async function install(...args) {
  const { code, output } = await run(python, [...pip, ...args], { minutes: 15 });
  if (code !== 0 && OFFLINE.test(output)) throw new Skip("the Python packages of this test cannot be downloaded, or not for this Python");
  if (code !== 0) throw new Remedy(`pip ${args.join(" ")} failed`);
}

/** Returns true if `mark` holds the hash of a file; else returns false, and a function that writes it. */
async function isCurrent(mark, file) {
  const hash = createHash("sha256").update(await readFile(file)).digest("hex");
  const current = existsSync(mark) && (await readFile(mark, "utf8")) === hash;
  return [current, () => writeFile(mark, hash)];
}

/** Makes the environment with the libraries, unless it is there. */
async function prepare() {
  const program = findProgram("python3", "python");
  if (!program) throw new Skip("there is no python3");
  const { code: isOld } = await run(program, ["-c", "import sys; sys.exit(sys.version_info < (3, 11))"]);
  if (isOld !== 0) throw new Skip("the wheel needs Python 3.11");
  const requirements = path.join(package_, "tests/requirements.txt");
  const [current, mark] = await isCurrent(path.join(environment, "installed"), requirements);
  if (current) return;
  await rm(environment, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const { code } = await run(program, ["-m", "venv", environment], { minutes: 5 });
  if (code !== 0) throw new Skip("python3 cannot make a virtual environment (Debian: apt-get install python3-venv)");
  await install("install", "--only-binary", ":all:", "-r", requirements);
  await mark();
}

/** Builds the wheel and installs it: without engines from the repository, or as users get it from the source package. */
async function installWheel(isFull) {
  const wheels = path.join(folder, "wheels");
  await rm(wheels, { recursive: true, force: true });
  if (isFull) {
    const sources = path.join(folder, "sources");
    await rm(sources, { recursive: true, force: true });
    await must(python, [path.join(package_, "sdist.py"), sources]);
    const env = { CARGO_TARGET_DIR: path.join(root, "target") };
    await must(python, [...pip, "wheel", "--no-deps", "--wheel-dir", wheels, path.join(sources, readdirSync(sources)[0])], { env });
  } else {
    // Features on the command line replace those of pyproject.toml.
    const features = ["--no-default-features", "--features", "pyo3/abi3-py311"];
    await must(python, ["-m", "maturin", "build", "--release", "--quiet", ...features, "--out", wheels], { cwd: package_ });
  }
  await must(python, [...pip, "install", "--force-reinstall", "--no-deps", path.join(wheels, readdirSync(wheels)[0])]);
}

/** Runs the tests of python-lz4's source package with `pagepress.lz4` in the place of `lz4`. */
async function runTheirTests(env) {
  const version = /^lz4==(.*)$/m.exec(await readFile(path.join(package_, "tests/requirements.txt"), "utf8"))[1];
  const sources = path.join(folder, `lz4-${version}`);
  if (!existsSync(sources)) {
    const archives = path.join(folder, "sdist");
    await install("download", "--no-binary", "lz4", "--no-deps", `lz4==${version}`, "--dest", archives);
    await must(python, ["-m", "tarfile", "-e", path.join(archives, `lz4-${version}.tar.gz`), folder]);
  }
  const plugin = { ...env, PYTHONPATH: path.join(package_, "tests") };
  for (const part of ["tests/block", "tests/frame"]) {
    await pytest(["-o", "addopts=", "-W", "ignore", "-p", "as_lz4", part], { cwd: sources, env: plugin });
  }
}

/** Tests the codec of the Rust crate zarrs, and exchanges arrays between zarr and zarrs. */
async function exchangeWithZarrs(env) {
  const target = path.join(root, "target", "zarrs");
  const manifest = ["--manifest-path", path.join(root, "examples/zarrs/Cargo.toml"), "--locked"];
  const built = { env: { CARGO_TARGET_DIR: target } };
  await must("cargo", ["test", ...manifest], built);
  await must("cargo", ["build", "--bins", ...manifest], built);
  const arrays = path.join(target, "arrays");
  await rm(arrays, { recursive: true, force: true });
  await mkdir(arrays, { recursive: true });
  await must(python, ["-W", "ignore", path.join(root, "examples/zarrs/exchange.py"), path.join(target, "debug/copy-array"), arrays], { env });
}

await exitWith(async () => {
  await prepare();
  await installWheel(process.argv.includes("--full"));
  const manifest = lavapipe() ?? "";
  const env = {
    PYTHONDONTWRITEBYTECODE: "1",
    VK_DRIVER_FILES: manifest,
    VK_ICD_FILENAMES: manifest,
    XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
  };
  // The tests run in their folder, so that `import pagepress` finds the installed package.
  await pytest(["-W", "ignore", "."], { cwd: path.join(package_, "tests"), env });
  const rules = ["mypy.ini", "stubtest.txt"].map((name) => path.join(package_, "tests", name));
  await must(python, ["-m", "mypy.stubtest", "pagepress", "--mypy-config-file", rules[0], "--allowlist", rules[1]], { cwd: folder, env });
  await runTheirTests(env);
  await pytest(["-W", "ignore", "."], { cwd: path.join(root, "examples/cluster"), env });
  if (process.argv.includes("--zarrs")) await exchangeWithZarrs(env);
});
