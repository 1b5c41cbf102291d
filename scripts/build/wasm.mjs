// The wasm modules: Rust through cargo, wasm-bindgen and wasm-opt.
import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { embed, finishGlue } from "./glue.mjs";
import { output, root, run } from "./run.mjs";
import { slim } from "./slim.mjs";

/** What is fast is inlined by name; the rest is called, and loops are not unrolled to more than a few rounds. */
const smallCode = ["-Cllvm-args=-inline-threshold=10", "-Cllvm-args=-unroll-full-max-count=8"];

/** Those for LZ4 have no JavaScript but the package's own, and come as text, too, for the entry `inline`. */
const modules = [
  { name: "cpu", profile: "wasm", features: ["npm"], isPlain: true, passes: ["-O3"], flags: smallCode },
  { name: "gpu", profile: "wasm-gpu", features: ["npm-gpu"], isPlain: true, passes: ["-Oz", "--converge"], flags: [] },
  { name: "tensor", profile: "wasm-tensor", features: ["npm-tensor"], isPlain: false, passes: ["-Oz", "--converge"], flags: [] },
];

/** Custom sections say nothing that a page needs. */
const stripping = ["--strip-debug", "--strip-producers", "--strip-target-features"];

const dist = join(root, "dist");
const target = join(root, "target/wasm32-unknown-unknown");

/** Builds `dist/{cpu,gpu,tensor}_bg.wasm`, `dist/{cpu,gpu}-wasm.js` and `dist/tensor.js`. */
export async function buildModules() {
  const bindgen = await findBindgen();
  await mkdir(dist, { recursive: true });
  for (const module of modules) {
    await compile(module);
    await finish(module, bindgen);
  }
}

function compile({ profile, features, flags }) {
  const options = ["--lib", "--profile", profile, "--target", "wasm32-unknown-unknown"];
  const config = `target.wasm32-unknown-unknown.rustflags=${JSON.stringify(flags)}`;
  return run("cargo", ["build", "--config", config, ...options, "--no-default-features", "--features", features.join(",")]);
}

/** Turns what cargo made into a module of the package, unless that was done with the same input before. */
async function finish({ name, profile, isPlain, passes }, bindgen) {
  const compiled = join(target, profile, "pagepress.wasm");
  const stamp = join(target, `${name}.stamp`);
  const input = createHash("sha256").update(await readFile(compiled));
  for (const script of ["wasm.mjs", "glue.mjs", "slim.mjs"]) input.update(await readFile(new URL(script, import.meta.url)));
  const digest = input.digest("hex");
  const wasm = join(dist, `${name}_bg.wasm`);
  const parts = [wasm, join(dist, isPlain ? `${name}-wasm.js` : `${name}.js`)];
  const isFresh = parts.every(existsSync) && existsSync(stamp) && (await readFile(stamp, "utf8")) === digest;
  if (isFresh) return;
  if (isPlain) {
    await copyFile(compiled, wasm);
  } else {
    const flags = ["--target", "web", "--no-typescript", "--omit-default-module-path"];
    await run(bindgen, [compiled, ...flags, "--remove-producers-section", "--out-dir", dist, "--out-name", name]);
  }
  const optimizer = join(root, "node_modules/binaryen/bin/wasm-opt");
  await slim(wasm, isPlain);
  await run(process.execPath, [optimizer, wasm, ...passes, ...stripping, "-o", `${wasm}.opt`]);
  await rename(`${wasm}.opt`, wasm);
  await (isPlain ? embed(name) : finishGlue(name));
  await writeFile(stamp, digest);
}

/** The wasm-bindgen whose version is that of Cargo.lock: from target/tools, else from the path. */
async function findBindgen() {
  const lock = await readFile(join(root, "Cargo.lock"), "utf8");
  const wanted = /name = "wasm-bindgen"\nversion = "(.+)"/.exec(lock)?.[1];
  const candidates = [join(root, "target/tools/bin/wasm-bindgen"), "wasm-bindgen"];
  for (const candidate of candidates) {
    const version = await output(candidate, ["--version"]).catch(() => "");
    if (version.trim().split(" ")[1] === wanted) return candidate;
  }
  const remedy = `cargo install wasm-bindgen-cli --version ${wanted} --root target/tools`;
  throw new Error(`wasm-bindgen ${wanted} is not installed; run: ${remedy}`);
}
