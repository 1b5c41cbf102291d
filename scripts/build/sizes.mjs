// What a page loads, in bytes.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";
import { root } from "./run.mjs";

const dist = join(root, "dist");

/** Sizes of the modules with their JavaScript, and of the package's own JavaScript as a bundler leaves it. */
export async function measureSizes() {
  const modules = ["cpu", "seek", "gpu", "tensor"].map(async (name) => {
    const files = [await readFile(join(dist, `${name}_bg.wasm`)), await readFile(join(dist, `wasm/${name}.js`))];
    return { part: name, ...sizeOf(files) };
  });
  const entries = ["index.js", "worker.js", "tensor/index.js"].map(async (part) => ({ part, ...sizeOf(await bundle(part)) }));
  return Promise.all([...modules, ...entries]);
}

function sizeOf(files) {
  const raw = files.reduce((sum, file) => sum + file.length, 0);
  return { raw, gzip: files.reduce((sum, file) => sum + gzipSync(file, { level: 9 }).length, 0) };
}

/** The JavaScript of an entry, without that of the modules and what is loaded later. */
async function bundle(file) {
  const options = { bundle: true, minify: true, format: "esm", write: false, external: ["./wasm/*", "../wasm/*"] };
  const { outputFiles } = await build({ entryPoints: [join(dist, file)], ...options });
  return outputFiles.map(({ contents }) => contents);
}

/** Prints them. */
export async function reportSizes() {
  const kb = (n) => `${(n / 1000).toFixed(1)} kB`;
  for (const { part, raw, gzip } of await measureSizes()) {
    console.log(`${part.padEnd(15)} ${kb(raw).padStart(9)}, gzip ${kb(gzip)}`);
  }
}
