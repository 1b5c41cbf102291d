// Benchmarks npm packages on one thread of Node, by size: node benches/packages/run.mjs FILE...
//
// Prints a Markdown table for each size from 1 kB to 64 MB of the content of FILEs, repeated as needed: ratio, and MB/s of
// uncompressed bytes in both directions, as medians of rounds in which the packages take turns. Each result is verified
// first. Needs dist/: `npm run build`. --built uses the packages as installed.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { compressSync, decompressSync, init } from "../../dist/index.js";
import { run } from "../../scripts/build/run.mjs";

const SIZES = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6, 64e6];
const N_ROUNDS = 9;
/** Minimum duration of a measurement, for which calls are repeated. */
const LEAST_MS = 20;

/**
 * The packages as `{name, compress, decompress}`. lz4-wasm writes a size and a block; @foxglove/wasm-lz4 only
 * decompresses.
 */
async function contenders() {
  const lz4Wasm = (await import("lz4-wasm-nodejs")).default;
  const foxglove = (await import("@foxglove/wasm-lz4")).default;
  await foxglove.isLoaded;
  const fflate = await import("fflate");
  const frame = (options) => (bytes) => compressSync(bytes, options);
  const decompress = (packed) => decompressSync(packed);
  const plain = frame({ level: "sequential", contentChecksum: false });
  return [
    { name: "pagepress, sequential", compress: frame({ level: "sequential" }), decompress },
    { name: "pagepress, fast", compress: frame({ level: "fast" }), decompress },
    { name: "pagepress, high", compress: frame({ level: "high" }), decompress },
    { name: "pagepress, sequential, no checksum", compress: plain, decompress },
    { name: "lz4-wasm", compress: lz4Wasm.compress, decompress: lz4Wasm.decompress },
    { name: "@foxglove/wasm-lz4", packed: plain, decompress: (packed, length) => foxglove(packed, length) },
    { name: "fflate, level 1", compress: (bytes) => fflate.deflateSync(bytes, { level: 1 }), decompress: (packed) => fflate.inflateSync(packed) },
  ];
}

/** Returns the milliseconds of one call of `work`, averaged over repeated calls. */
function time(work) {
  let calls = 0;
  const start = performance.now();
  let now = start;
  for (; now - start < LEAST_MS; now = performance.now()) {
    work();
    calls += 1;
  }
  return (now - start) / calls;
}

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

function compare(list, bytes) {
  const rows = list.map(({ name, compress, packed, decompress }) => {
    const made = (compress ?? packed)(bytes);
    assert.ok(Buffer.from(bytes).equals(decompress(made, bytes.length)), name);
    return { name, compress: compress && (() => compress(bytes)), decompress: () => decompress(made, bytes.length), ratio: bytes.length / made.length, times: [[], []] };
  });
  for (let round = 0; round < N_ROUNDS; round += 1) {
    // Each round starts with another package.
    for (const row of [...rows.slice(round % rows.length), ...rows.slice(0, round % rows.length)]) {
      if (row.compress) row.times[0].push(time(row.compress));
      row.times[1].push(time(row.decompress));
    }
  }
  return rows;
}

function print(size, rows) {
  console.log(`\n${size >= 1e6 ? `${size / 1e6} MB` : `${size / 1e3} kB`}\n\n| | ratio | compress MB/s | decompress MB/s |\n|---|---|---|---|`);
  const speed = (times) => (times.length === 0 ? "" : (size / 1e3 / median(times)).toPrecision(3));
  for (const { name, compress, ratio, times } of rows) {
    console.log(`| ${name} | ${compress ? ratio.toFixed(2) : ""} | ${speed(times[0])} | ${speed(times[1])} |`);
  }
}

const here = fileURLToPath(new URL(".", import.meta.url));
const asked = process.argv.slice(2);
const files = asked.filter((name) => name !== "--built");
if (files.length === 0) throw new Error("give files to compress");
if (!asked.includes("--built")) await run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: here });
const once = Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
const content = new Uint8Array(SIZES.at(-1));
for (let at = 0; at < content.length; at += once.length) content.set(once.subarray(0, content.length - at), at);
await init();
const list = await contenders();
console.log(`Node ${process.version}, ${cpus()[0].model}`);
// Sizes start at different positions of the content, so that small ones differ.
for (const [i, size] of SIZES.entries()) {
  const start = size < once.length / 2 ? Math.floor((once.length / 2 / SIZES.length) * i) : 0;
  print(size, compare(list, content.slice(start, start + size)));
}
