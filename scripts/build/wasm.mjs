// The wasm modules: Rust through cargo and wasm-opt.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import { transform } from "esbuild";
import { findWasmBindgen } from "../machine.mjs";
import { root, run } from "./run.mjs";

/** What is fast is inlined by name; the rest is called, and loops are not unrolled to more than a few rounds. */
const smallCode = ["-Cllvm-args=-inline-threshold=25", "-Cllvm-args=-unroll-full-max-count=8"];

/** What is called compresses better than what is inlined, also where there is but one call. Functions that are alike but for
 * constants stay apart: they are alike for speed. */
const small = ["-Oz", "--one-caller-inline-max-function-size=20", "--converge", "--skip-pass=merge-similar-functions"];

/** Those for LZ4 come as text, too, for the entry `inline`. */
const modules = [
  { name: "cpu", profile: "wasm", features: ["web-files"], isText: true, flags: smallCode },
  { name: "seek", profile: "wasm-seek", features: ["web-seek"], isText: true, flags: smallCode },
  { name: "gpu", profile: "wasm-gpu", features: ["web-gpu"], isText: true, flags: [] },
  { name: "tensor", profile: "wasm-tensor", features: ["web-tensor"], isText: false, flags: [] },
];

/** Custom sections say nothing that a page needs. */
const stripping = ["--strip-debug", "--strip-producers", "--strip-target-features"];

const dist = join(root, "dist");
const target = join(root, "target/wasm32-unknown-unknown");
/** Generated JavaScript and types. */
export const glue = join(root, "target/glue/wasm");

/** Builds the modules, their JavaScript and their types. */
export async function buildModules() {
  await mkdir(dist, { recursive: true });
  for (const module of modules) {
    await run("cargo", compileArguments(module.name));
    await finish(module);
  }
}

/** Names for the glues that differ between machines, so that equal sources give equal modules (panics name files). */
const sameNames = [
  `--remap-path-prefix=${root}=/pagepress/`,
  `--remap-path-prefix=${process.env.CARGO_HOME ?? join(homedir(), ".cargo")}=/cargo`,
];

/** What cargo is called with for the module `name`, in a checkout of this repository. */
export function compileArguments(name) {
  const { profile, features, flags } = modules.find((module) => module.name === name);
  const options = ["--package", "pagepress", "--lib", "--profile", profile, "--target", "wasm32-unknown-unknown"];
  const config = `target.wasm32-unknown-unknown.rustflags=${JSON.stringify([...flags, ...sameNames])}`;
  return ["build", "--config", config, ...options, "--no-default-features", "--features", features.join(",")];
}

/** Turns what cargo made into a module of the package, unless that was done with the same input before. */
async function finish({ name, profile, isText }) {
  const compiled = join(target, profile, "pagepress.wasm");
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

/** Writes the module, its JavaScript, minified, and its types. The package's loader says where the module is, and has it
 * replaced after a panic. */
async function bind(compiled, name) {
  const options = ["--target", "web", "--experimental-reset-state-function", "--ts-typed-array-buffers", "--omit-default-module-path"];
  await run(findWasmBindgen("wasm-bindgen"), [...options, "--out-dir", glue, "--out-name", name, compiled]);
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

/** Replaces the initialisation, which also fetches and compiles, by one that takes the compiled module: the package's loader
 * fetches, compiles and reports errors itself. */
function withShortInit(script) {
  const init = `async function __wbg_init({ module_or_path: module }) {
  return wasm ?? __wbg_finalize_init(await WebAssembly.instantiate(module, __wbg_get_imports()), module);
}
export { __wbg_init as default };`;
  return upTo(script, "async function __wbg_load(") + init;
}

/** The types of the same. */
function withShortInitType(types) {
  const init = "export default function __wbg_init(options: { module_or_path: WebAssembly.Module }): Promise<unknown>;\n";
  return upTo(types, "export type InitInput") + init;
}

/** Returns `text` up to `mark`, behind which wasm-bindgen writes the initialisation and nothing else. */
function upTo(text, mark) {
  const at = text.indexOf(mark);
  if (at < 0) throw new Error(`wasm-bindgen writes no \`${mark}\`: see withShortInit`);
  return text.slice(0, at);
}

/** What a closure of an instance that was replaced does. The browser still calls those that wait for a GPU, and nobody
 * catches what they throw: they shall do nothing. */
const STALE = "throw new Error('Cannot invoke closure from previous WASM instance');";

/** Replaces the names of imports, whose hashes gzip cannot shorten, by numbers that are as long. */
function numbering() {
  const numbers = new Map();
  const numberOf = (name) => {
    if (!numbers.has(name)) numbers.set(name, `__wbg_${String(numbers.size).padStart(name.length - 6, "0")}`);
    return numbers.get(name);
  };
  return (text) => text.replace(/__wbg_\w+?_[0-9a-f]{16}(?![0-9a-zA-Z_])/g, numberOf);
}
