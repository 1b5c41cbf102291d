// What a page loads, in bytes.
import { readFile, readdir } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { root } from "./run.mjs";

/** Size of what each engine needs: the shared JavaScript, and its own module. */
export async function measureSizes() {
  const dist = join(root, "dist");
  const sums = { shared: [0, 0], cpu: [0, 0], gpu: [0, 0] };
  for (const file of await readdir(dist)) {
    if (!/\.(js|wasm)$/.test(file) || /^(inline|cpu-wasm|gpu-wasm)\.js$/.test(file)) continue;
    const bytes = await readFile(join(dist, file));
    const part = /^(cpu|gpu)(_bg)?\./.exec(file)?.[1] ?? "shared";
    sums[part][0] += bytes.length;
    sums[part][1] += gzipSync(bytes, { level: 9 }).length;
  }
  return Object.entries(sums).map(([part, [raw, gzip]]) => ({ part, raw, gzip }));
}

/** Prints them. */
export async function reportSizes() {
  const kb = (n) => `${(n / 1000).toFixed(1)} kB`;
  for (const { part, raw, gzip } of await measureSizes()) {
    console.log(`${part.padEnd(7)} ${kb(raw).padStart(9)}, gzip ${kb(gzip)}`);
  }
}
