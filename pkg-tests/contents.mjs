// What is in the tarball, and how large it is.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { root } from "../scripts/build/run.mjs";
import { measureSizes } from "../scripts/build/sizes.mjs";

/** Most bytes of each part after gzip. */
const budgets = {
  "cpu_bg.wasm": 17_000,
  "seek_bg.wasm": 12_000,
  "gpu_bg.wasm": 62_000,
  "gpu.js": 6_300,
  "index.js": 21_000,
  "worker.js": 6_000,
  "tensor_bg.wasm": 162_000,
  "tensor.js": 8_300,
  "tensor/index.js": 6_600,
};

const wanted = [
  "LICENSE-APACHE",
  "LICENSE-MIT",
  "README.md",
  "dist/cpu_bg.wasm",
  "dist/gpu_bg.wasm",
  "dist/index.d.ts",
  "dist/index.js",
  "dist/inline.d.ts",
  "dist/inline.js",
  "dist/seek_bg.wasm",
  "dist/tensor/index.d.ts",
  "dist/tensor/index.js",
  "dist/tensor_bg.wasm",
  "dist/wasm/cpu-wasm.js",
  "dist/wasm/cpu.js",
  "dist/wasm/gpu-wasm.js",
  "dist/wasm/gpu.js",
  "dist/wasm/seek-wasm.js",
  "dist/wasm/seek.js",
  "dist/wasm/tensor.d.ts",
  "dist/wasm/tensor.js",
  "dist/worker.d.ts",
  "dist/worker.js",
  "package.json",
];
const allowed = /^(dist\/((tensor|wasm)\/)?[a-z-]+(_bg\.wasm|\.js|\.d\.ts)|package\.json|[A-Z]+(-[A-Z]+)?(\.md)?)$/;

/** Everything that is needed is there, and nothing else. */
export function checkFiles(files) {
  assert.deepEqual(wanted.filter((file) => !files.includes(file)), [], "missing");
  assert.deepEqual(files.filter((file) => !allowed.test(file)), [], "not wanted");
}

/** The modules import from their generated JavaScript and from nothing else. */
export async function checkModules() {
  for (const name of ["cpu", "seek", "gpu", "tensor"]) {
    const module = new WebAssembly.Module(await readFile(join(root, `dist/${name}_bg.wasm`)));
    const imported = new Set(WebAssembly.Module.imports(module).map((one) => one.module));
    assert.deepEqual([...imported], [`./${name}_bg.js`], `imports of ${name}`);
  }
}

/** The manifest runs nothing at installation and asks for nothing. */
export async function checkManifest() {
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  for (const name of ["preinstall", "install", "postinstall", "prepare"]) {
    assert.equal(manifest.scripts?.[name], undefined, `script ${name}`);
  }
  assert.equal(manifest.dependencies, undefined);
  for (const entry of [".", "./inline", "./worker", "./tensor"]) {
    assert.equal(Object.keys(manifest.exports[entry])[0], "types", entry);
  }
}

/** No part has outgrown its budget. */
export async function checkSizes() {
  for (const { part, gzip } of await measureSizes()) {
    assert.ok(gzip <= budgets[part], `${part} is ${gzip} bytes after gzip, more than ${budgets[part]}`);
  }
}
