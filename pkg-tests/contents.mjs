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
  "wasm/gpu_bg.wasm": 116_000,
  "gpu.js": 9_500,
  "index.js": 21_000,
  "worker.js": 6_000,
  "wasm/tensor_bg.wasm": 162_000,
  "tensor.js": 8_300,
  "tensor/index.js": 6_600,
};

const wanted = [
  "LICENSE-APACHE",
  "LICENSE-MIT",
  "README.md",
  "dist/cpu-wasm.js",
  "dist/cpu_bg.wasm",
  "dist/gpu.js",
  "dist/index.d.ts",
  "dist/index.js",
  "dist/inline.d.ts",
  "dist/inline.js",
  "dist/seek-wasm.js",
  "dist/seek_bg.wasm",
  "dist/tensor/index.d.ts",
  "dist/tensor/index.js",
  "dist/wasm/gpu-wasm.js",
  "dist/wasm/gpu.js",
  "dist/wasm/gpu_bg.wasm",
  "dist/wasm/tensor.d.ts",
  "dist/wasm/tensor.js",
  "dist/wasm/tensor_bg.wasm",
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

/** The modules import from the package's own JavaScript and from nothing else, and export no more than that knows. */
export async function checkModules() {
  const classes = { "wasm/gpu": ["./gpu_bg.js"], "wasm/tensor": ["./tensor_bg.js"] };
  for (const [name, wanted] of Object.entries({ cpu: [], seek: [], ...classes })) {
    const module = new WebAssembly.Module(await readFile(join(root, `dist/${name}_bg.wasm`)));
    const imported = new Set(WebAssembly.Module.imports(module).map((one) => one.module));
    assert.deepEqual([...imported].sort(), wanted, `imports of ${name}`);
    // JavaScript of wasm-bindgen uses these.
    if (name in classes) continue;
    const generated = WebAssembly.Module.exports(module).filter((one) => one.name.startsWith("__"));
    assert.deepEqual(generated, [], `exports of ${name}`);
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
