// What a page loads, in bytes.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "./run.mjs";

const dist = join(root, "dist");

/** Sizes of the parts: the modules, the JavaScript around those of the GPU, and all other JavaScript as a bundler leaves it. */
export async function measureSizes() {
  const parts = [];
  const files = ["cpu_bg.wasm", "gpu_bg.wasm", "gpu.js", "tensor_bg.wasm", "tensor.js"];
  for (const file of files) parts.push([file, await readFile(join(dist, file))]);
  const options = { bundle: true, minify: true, format: "esm", write: false, external: ["./gpu.js", "../tensor.js"] };
  for (const file of ["index.js", "worker.js", "tensor/index.js"]) {
    const { outputFiles } = await build({ entryPoints: [join(dist, file)], ...options });
    parts.push([file, outputFiles[0].contents]);
  }
  return parts.map(([part, bytes]) => ({ part, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length }));
}

/** Prints them. */
export async function reportSizes() {
  const kb = (n) => `${(n / 1000).toFixed(1)} kB`;
  for (const { part, raw, gzip } of await measureSizes()) {
    console.log(`${part.padEnd(15)} ${kb(raw).padStart(9)}, gzip ${kb(gzip)}`);
  }
}
