// What a page loads, in bytes.
import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "./run.mjs";

const dist = join(root, "dist");

/** Sizes of the parts: the modules, and the JavaScript as a bundler leaves it. */
export async function measureSizes() {
  const parts = [];
  for (const file of ["cpu_bg.wasm", "seek_bg.wasm", "gpu_bg.wasm", "tensor_bg.wasm"]) parts.push([file, await readFile(join(dist, file))]);
  for (const file of ["index.js", "worker.js", "tensor/index.js"]) parts.push(...(await bundle(file)));
  return parts.map(([part, bytes]) => ({ part, raw: bytes.length, gzip: gzipSync(bytes, { level: 9 }).length }));
}

/** An entry with all that it loads at once, and what it loads later. */
async function bundle(file) {
  const options = { bundle: true, minify: true, format: "esm", splitting: true, write: false, outdir: "out", metafile: true };
  const { outputFiles, metafile } = await build({ entryPoints: [join(dist, file)], ...options });
  const later = new Set(Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => basename(path))));
  const isLater = ({ path }) => later.has(basename(path));
  const together = Buffer.concat(outputFiles.filter((output) => !isLater(output)).map(({ contents }) => contents));
  const rest = outputFiles.filter(isLater).map(({ path, contents }) => [basename(path).replace(/-\w+\.js$/, ".js"), contents]);
  return [[file, together], ...rest];
}

/** Prints them. */
export async function reportSizes() {
  const kb = (n) => `${(n / 1000).toFixed(1)} kB`;
  for (const { part, raw, gzip } of await measureSizes()) {
    console.log(`${part.padEnd(15)} ${kb(raw).padStart(9)}, gzip ${kb(gzip)}`);
  }
}
