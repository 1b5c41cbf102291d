// Measures the download sizes of the package.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { adapters, minified } from "./javascript.mjs";
import { root } from "./run.mjs";
import { glue } from "./wasm.mjs";

const dist = join(root, "dist");

/** Returns the sizes of the modules with their glue, and of the minified JavaScript of the entries. */
export async function measureSizes() {
  const modules = ["cpu", "cuda", "dictionary", "formats", "seek", "snapshot", "gpu", "tensor"].map(async (name) => {
    const files = [await readFile(join(dist, `${name}_bg.wasm`)), await readFile(join(glue, `${name}.js`))];
    return { part: name, ...sizeOf(files) };
  });
  const entries = ["index", "worker", "cuda", "dictionary", "snapshot", "tensor", ...adapters.map((name) => `adapters/${name}`)].map(async (part) => ({ part: `${part}.js`, ...sizeOf(await minified(part)) }));
  return Promise.all([...modules, ...entries]);
}

function sizeOf(files) {
  const raw = files.reduce((sum, file) => sum + file.length, 0);
  return { raw, gzip: files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0) };
}

/** Prints the sizes. */
export async function reportSizes() {
  const kb = (n) => `${(n / 1000).toFixed(1)} kB`;
  for (const { part, raw, gzip } of await measureSizes()) {
    console.log(`${part.padEnd(22)} ${kb(raw).padStart(9)}, gzip ${kb(gzip)}`);
  }
}
