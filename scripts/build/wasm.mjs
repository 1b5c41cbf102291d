// Builds the wasm modules with cargo, wasm-bindgen and wasm-opt.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { findWasmBindgen } from "../machine.mjs";
import { root, run } from "./run.mjs";

/** Options for small code: hot functions have inline attributes, everything else is called, and unrolling is limited. */
const smallCode = ["-Cllvm-args=-inline-threshold=20", "-Cllvm-args=-unroll-full-max-count=4"];

/**
 * Passes of wasm-opt. Calls compress better than inlined code, even with a single caller. Functions that differ only in
 * constants are not merged, since they are specialised for speed.
 */
const small = [
  "-Oz",
  "--one-caller-inline-max-function-size=30",
  "--always-inline-max-function-size=6",
  "--converge",
  "--skip-pass=merge-similar-functions",
  "--skip-pass=local-cse",
];

/**
 * The modules, programs of the package in `wasm/`, each with the feature of its name. Those with `isText` are also written as base64, for the
 * entry `inline`.
 */
const modules = [
  { name: "cpu", profile: "wasm", isText: true, flags: smallCode },
  { name: "dictionary", profile: "wasm", isText: false, flags: smallCode },
  { name: "formats", profile: "wasm", isText: false, flags: [] },
  { name: "seek", profile: "wasm", isText: true, flags: smallCode },
  { name: "snapshot", profile: "wasm", isText: false, flags: smallCode },
  { name: "gpu", profile: "wasm-gpu", isText: true, flags: [] },
  { name: "cuda", profile: "wasm-gpu", isText: false, flags: [] },
  { name: "tensor", profile: "wasm-gpu", isText: false, flags: [] },
];

/** Custom sections are not needed at run time. */
const stripping = ["--strip-debug", "--strip-producers", "--strip-target-features"];

const dist = join(root, "dist");
const target = join(root, "target/wasm32-unknown-unknown");
/** The folder of generated JavaScript and types. */
export const glue = join(root, "target/glue/wasm");

/** Builds the modules, their JavaScript and their types. */
export async function buildModules() {
  await mkdir(dist, { recursive: true });
  // wasm-opt works on one core, so it runs while cargo compiles the next module.
  let finishing = Promise.resolve();
  for (const module of modules) {
    await Promise.all([run("cargo", compileArguments(module.name)), finishing]);
    finishing = finish(module);
  }
  await finishing;
}

/** Maps machine-dependent paths, which panic messages contain, to fixed names, so that builds are reproducible. */
const sameNames = [
  `--remap-path-prefix=${root}=/pagepress/`,
  `--remap-path-prefix=${process.env.CARGO_HOME ?? join(homedir(), ".cargo")}=/cargo`,
];

/** Returns the arguments of cargo that compile the module `name`. */
export function compileArguments(name) {
  const { profile, flags } = modules.find((module) => module.name === name);
  const options = ["--package", "pagepress-wasm", "--bin", name, "--profile", profile, "--target", "wasm32-unknown-unknown"];
  const config = `target.wasm32-unknown-unknown.rustflags=${JSON.stringify([...flags, ...sameNames])}`;
  return ["build", "--config", config, ...options, "--features", name];
}

/** Makes a module of the package from cargo's output, unless the input is unchanged. */
async function finish({ name, profile, isText }) {
  const compiled = join(target, profile, `${name}.wasm`);
  const stamp = join(target, `${name}.stamp`);
  const input = createHash("sha256").update(await readFile(compiled));
  const digest = input.update(await readFile(new URL(import.meta.url))).digest("hex");
  const wasm = join(dist, `${name}_bg.wasm`);
  const text = join(glue, `${name}-wasm.js`);
  const parts = [wasm, join(glue, `${name}.js`), ...(isText ? [text] : [])];
  const isFresh = parts.every(existsSync) && existsSync(stamp) && (await readFile(stamp, "utf8")) === digest;
  if (isFresh) return;
  await bind(compiled, name);
  await rename(join(glue, `${name}_bg.wasm`), wasm);
  const optimizer = join(root, "node_modules/binaryen/bin/wasm-opt");
  await run(process.execPath, [optimizer, wasm, ...small, ...stripping, "-o", `${wasm}.opt`]);
  await rename(`${wasm}.opt`, wasm);
  if (isText) {
    await writeFile(text, `export default "${(await readFile(wasm)).toString("base64")}";\n`);
    await writeFile(join(glue, `${name}-wasm.d.ts`), "declare const base64: string;\nexport default base64;\n");
  }
  await writeFile(stamp, digest);
}

/**
 * Writes the module, its minified JavaScript and its types. The package's loader passes the path of the module and
 * replaces the instance after a panic.
 */
async function bind(compiled, name) {
  const options = ["--target", "web", "--experimental-reset-state-function", "--ts-typed-array-buffers", "--omit-default-module-path"];
  const program = findWasmBindgen("wasm-bindgen");
  if (!program) throw new Error("wasm-bindgen of the version in Cargo.lock is missing: run `node scripts/setup.mjs`");
  await run(program, [...options, "--out-dir", glue, "--out-name", name, compiled]);
  await rm(join(glue, `${name}_bg.wasm.d.ts`));
  const [wasm, script, types] = [join(glue, `${name}_bg.wasm`), join(glue, `${name}.js`), join(glue, `${name}.d.ts`)];
  const number = numbering();
  const written = number(withShortInit(await readFile(script, "utf8"))).replaceAll(STALE, "return;");
  const { code } = await transform(written, { minify: true, format: "esm" });
  if (code.includes("previous WASM instance")) throw new Error("closures of an earlier instance throw: see STALE");
  await writeFile(script, code);
  await writeFile(types, withShortInitType(await readFile(types, "utf8")));
  await writeFile(wasm, Buffer.from(number(await readFile(wasm, "latin1")), "latin1"));
}

/**
 * Returns the script with an initialisation that takes the compiled module. That of wasm-bindgen also fetches and compiles,
 * which the package's loader does, with its own errors.
 */
function withShortInit(script) {
  const init = `async function __wbg_init({ module_or_path: module }) {
  return wasm ?? __wbg_finalize_init(await WebAssembly.instantiate(module, __wbg_get_imports()), module);
}
export { __wbg_init as default };`;
  return upTo(script, "async function __wbg_load(") + init;
}

/** Returns the type declarations with the same initialisation. */
function withShortInitType(types) {
  const init = "export default function __wbg_init(options: { module_or_path: object }): Promise<unknown>;\n";
  return upTo(types, "export type InitInput") + init;
}

/** Returns `text` up to `mark`, behind which wasm-bindgen writes the initialisation and nothing else. */
function upTo(text, mark) {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`wasm-bindgen writes no \`${mark}\`: see withShortInit`);
  return text.slice(0, at);
}

/**
 * The statement of wasm-bindgen for closures of a replaced instance. The browser still calls closures that wait for a GPU,
 * and nothing catches their errors, so the build replaces it by `return`.
 */
const STALE = "throw new Error('Cannot invoke closure from previous WASM instance');";

/** Returns a function that replaces import names with hashes, which gzip cannot compress, by numbers of the same length. */
function numbering() {
  const numbers = new Map();
  const numberOf = (name) => {
    if (!numbers.has(name)) numbers.set(name, `__wbg_${String(numbers.size).padStart(name.length - 6, "0")}`);
    return numbers.get(name);
  };
  return (text) => text.replace(/__wbg_\w+?_[0-9a-f]{16}(?![0-9a-zA-Z_])/g, numberOf);
}
