// Installs missing dependencies of building and testing.
//
// Runs before node_modules exists, so it imports only modules of Node.
import { createHash } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import {
  findChromium,
  findProgram,
  findWasmBindgen,
  lavapipe,
  swiftshader,
  toolsFolder,
  wasmBindgenVersion,
} from "./machine.mjs";
import { Remedy, ask, exitWith, root, run } from "./process.mjs";

const wasmTarget = "wasm32-unknown-unknown";

/** The Debian packages with their purpose and a test for their presence. */
const debianPackages = [
  { name: "build-essential", use: "a C compiler and linker for Rust", there: () => findProgram("cc") },
  { name: "lz4", use: "the lz4 command, which tests compare with", there: () => findProgram("lz4"), test: true },
  {
    name: "mesa-vulkan-drivers",
    use: "a software GPU (lavapipe) for tests",
    there: lavapipe,
    test: true,
  },
  {
    name: "chromium",
    use: "the browser for tests, with a second software GPU (SwiftShader)",
    there: () => findChromium() && swiftshader(),
    test: true,
  },
  {
    name: "chromium-driver",
    use: "runs Rust tests in the browser",
    there: () => findProgram("chromedriver"),
    test: true,
  },
];

/**
 * Installs the missing dependencies; with `tests` also those of tests only.
 *
 * Throws a `Remedy` that names what is missing and how to install it.
 */
export async function setup({ tests = false } = {}) {
  checkNode();
  await installDebianPackages(tests);
  checkRust();
  await installRustParts(tests);
  await Promise.all([installWasmBindgen(), installNpmPackages()]);
}

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major < 20 || (major === 20 && minor < 19)) {
    throw new Remedy(`Node ${process.versions.node} is too old: install Node 20.19 or newer, https://nodejs.org`);
  }
}

async function installDebianPackages(tests) {
  const missing = debianPackages.filter((one) => (tests || !one.test) && !one.there());
  if (missing.length === 0) return;
  const names = missing.map((one) => one.name);
  for (const { name, use } of missing) console.log(`setup: missing ${name}: ${use}`);
  const command = `apt-get install -y --no-install-recommends ${names.join(" ")}`;
  if (!findProgram("apt-get")) {
    throw new Remedy(`Install these with your system's package manager, then try again: ${names.join(", ")}`);
  }
  if (process.getuid?.() !== 0) {
    throw new Remedy(`Root is needed. Run this, then try again:\n  sudo ${command}`);
  }
  const env = { DEBIAN_FRONTEND: "noninteractive" };
  await must("apt-get", ["update"], { env });
  await must("apt-get", command.split(" ").slice(1), { env });
}

function checkRust() {
  const cargoFolder = path.join(process.env.CARGO_HOME ?? path.join(homedir(), ".cargo"), "bin");
  if (!findProgram("rustc") && existsSync(path.join(cargoFolder, "rustc"))) {
    // Rust is installed, but the shell started before and has an old PATH.
    process.env.PATH = `${cargoFolder}${path.delimiter}${process.env.PATH}`;
  }
  const found = /rustc (\d+)\.(\d+)/.exec(ask("rustc", ["--version"]) ?? "");
  if (!found) throw new Remedy("Rust is missing: install it from https://rustup.rs, then open a new shell");
  const needed = /rust-version = "(\d+)\.(\d+)"/.exec(readFileSync(path.join(root, "Cargo.toml"), "utf8"));
  const [major, minor] = found.slice(1).map(Number);
  const [neededMajor, neededMinor] = needed.slice(1).map(Number);
  if (major < neededMajor || (major === neededMajor && minor < neededMinor)) {
    throw new Remedy(
      `Rust ${major}.${minor} is older than ${neededMajor}.${neededMinor}, which this needs: rustup update stable`,
    );
  }
}

/** Installs the wasm target, and for tests the formatter and the linter. */
async function installRustParts(tests) {
  const sysroot = ask("rustc", ["--print", "sysroot"]);
  if (!existsSync(path.join(sysroot, "lib", "rustlib", wasmTarget))) {
    needRustup(`the Rust target ${wasmTarget}`);
    await must("rustup", ["target", "add", wasmTarget]);
  }
  if (!tests) return;
  const components = { rustfmt: ["fmt", "--version"], clippy: ["clippy", "--version"] };
  for (const [component, question] of Object.entries(components)) {
    if (ask("cargo", question) !== null) continue;
    needRustup(`the Rust component ${component}`);
    await must("rustup", ["component", "add", component]);
  }
}

function needRustup(what) {
  if (!findProgram("rustup")) {
    throw new Remedy(`${what} is missing and there is no rustup to add it: install Rust from https://rustup.rs`);
  }
}

/** Builds the command of wasm-bindgen and its test runner into target/tools, unless the version of Cargo.lock is already installed. */
async function installWasmBindgen() {
  const version = wasmBindgenVersion();
  if (findWasmBindgen("wasm-bindgen") && findWasmBindgen("wasm-bindgen-test-runner")) return;
  console.log(`setup: building wasm-bindgen ${version} into target/tools; once, 2 to 5 minutes`);
  // Without --locked: its lock file names a dependency that is no longer in the index.
  await must("cargo", ["install", "wasm-bindgen-cli", "--version", version, "--root", toolsFolder]);
}

/** Installs the npm packages of package-lock.json, unless they were installed from the same file before. */
async function installNpmPackages() {
  const mark = path.join(root, "node_modules", ".pagepress-lock");
  const hash = createHash("sha256").update(readFileSync(path.join(root, "package-lock.json"))).digest("hex");
  if (existsSync(mark) && readFileSync(mark, "utf8") === hash) return;
  console.log("setup: installing npm packages");
  await must("npm", ["ci", "--no-fund", "--no-audit"]);
  writeFileSync(mark, hash);
}

async function must(command, args, options) {
  console.log(`setup: ${command} ${args.join(" ")}`);
  const { code } = await run(command, args, options);
  if (code !== 0) {
    throw new Remedy(`\`${command} ${args.join(" ")}\` failed (exit code ${code}); it needs the network once`);
  }
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await exitWith(() => setup({ tests: process.argv.includes("--tests") }));
}
