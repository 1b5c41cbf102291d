// Benchmarks npm packages on one thread of Node, by size: node benches/packages/run.mjs FILE...
//
// Prints a Markdown table for each size from 1 kB to 64 MB of the content of FILEs, repeated as needed: ratio, and MB/s of
// uncompressed bytes in both directions, best and median of rounds in which the packages take turns in random order. For
// short contents it also prints microseconds per call, those of `compress` and `decompress` included. Each result is
// verified first. Needs dist/: `npm run build`. --built uses the packages as installed; --sizes=64,4e6 selects sizes.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { compressSync, createCompressor, decompressSync, init } from "../../dist/index.js";
import { run } from "../../scripts/build/run.mjs";

const SHORT = [64, 1024, 16384];
const SIZES = [1e3, 4e3, 16e3, 64e3, 256e3, 1e6, 4e6, 16e6, 64e6];
/** Rounds for contents of at most 1 MB, and for longer ones. */
const [N_ROUNDS, N_LONG_ROUNDS] = [25, 9];
/** Minimum duration of a measurement, for which calls are repeated. */
const LEAST_MS = 5;

/**
 * The packages as `{name, compress, decompress}`. lz4-wasm and lz4-napi write a size and a block; @foxglove/wasm-lz4 only
 * decompresses. lz4-napi is native code.
 */
async function contenders() {
  const lz4Wasm = (await import("lz4-wasm-nodejs")).default;
  const lz4Napi = (await import("lz4-napi")).default;
  const zstd = (await import("@bokuweb/zstd-wasm")).default;
  await zstd.init();
  const foxglove = (await import("@foxglove/wasm-lz4")).default;
  await foxglove.isLoaded;
  const fflate = await import("fflate");
  const frame = (options) => (bytes) => compressSync(bytes, options);
  const decompress = (packed) => decompressSync(packed);
  const plain = frame({ level: "sequential", contentChecksum: false });
  const buffer = ({ buffer, byteOffset, length }) => Buffer.from(buffer, byteOffset, length);
  return [
    { name: "pagepress, sequential", compress: frame({ level: "sequential" }), decompress },
    { name: "pagepress, fast", compress: frame({ level: "fast" }), decompress },
    { name: "pagepress, high", compress: frame({ level: "high" }), decompress },
    { name: "pagepress, sequential, no checksum", compress: plain, decompress },
    { name: "lz4-wasm", compress: lz4Wasm.compress, decompress: lz4Wasm.decompress },
    { name: "@foxglove/wasm-lz4", packed: plain, decompress: (packed, length) => foxglove(packed, length) },
    { name: "lz4-napi", compress: (bytes) => lz4Napi.compressSync(buffer(bytes)), decompress: (packed) => lz4Napi.uncompressSync(packed) },
    { name: "@bokuweb/zstd-wasm, level 1", compress: (bytes) => zstd.compress(bytes, 1), decompress: (packed) => zstd.decompress(packed) },
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

/** Does the same for a call that returns a promise. */
async function timeAsync(work) {
  let calls = 0;
  const start = performance.now();
  let now = start;
  for (; now - start < LEAST_MS; now = performance.now()) {
    await work();
    calls += 1;
  }
  return (now - start) / calls;
}

/** Returns best and median of `times`. */
function summary(times) {
  const sorted = times.toSorted((a, b) => a - b);
  return [sorted[0], sorted[times.length >> 1]];
}

function shuffled(list) {
  const drawn = list.map((one) => [Math.random(), one]);
  return drawn.sort(([a], [b]) => a - b).map(([, one]) => one);
}

function compare(list, bytes) {
  const rows = list.map(({ name, compress, packed, decompress }) => {
    const made = (compress ?? packed)(bytes);
    assert.ok(Buffer.from(bytes).equals(decompress(made, bytes.length)), name);
    return { name, compress: compress && (() => compress(bytes)), decompress: () => decompress(made, bytes.length), ratio: bytes.length / made.length, times: [[], []] };
  });
  const nRounds = bytes.length <= 1e6 ? N_ROUNDS : N_LONG_ROUNDS;
  for (let round = 0; round < nRounds; round += 1) {
    // Some packages leave work to the next one: garbage, and other content of the caches.
    for (const row of shuffled(rows)) {
      if (row.compress) row.times[0].push(time(row.compress));
      row.times[1].push(time(row.decompress));
    }
  }
  return rows;
}

function print(size, rows) {
  console.log(`\n${size >= 1e6 ? `${size / 1e6} MB` : `${size / 1e3} kB`}\n\n| | ratio | compress MB/s | decompress MB/s |\n|---|---|---|---|`);
  const speed = (times) => (times.length === 0 ? "" : summary(times).map((ms) => (size / 1e3 / ms).toPrecision(3)).join(", "));
  for (const { name, compress, ratio, times } of rows) {
    console.log(`| ${name} | ${compress ? ratio.toFixed(2) : ""} | ${speed(times[0])} | ${speed(times[1])} |`);
  }
}

/** Prints the microseconds of calls with short content. */
async function printCalls(list, content) {
  const cpu = await createCompressor({ backend: "cpu", level: "sequential" });
  for (const size of SHORT) {
    const bytes = content.slice(0, size);
    const rows = compare(list, bytes);
    const packed = await cpu.compress(bytes);
    const waiting = { name: "pagepress, sequential, awaited", compress: true, times: [[], []] };
    for (let round = 0; round < N_ROUNDS; round += 1) {
      waiting.times[0].push(await timeAsync(() => cpu.compress(bytes)));
      waiting.times[1].push(await timeAsync(() => cpu.decompress(packed)));
    }
    console.log(`\n${size} bytes\n\n| | compress, us a call | decompress, us a call |\n|---|---|---|`);
    const us = (times) => (times.length === 0 ? "" : summary(times).map((ms) => (ms * 1e3).toPrecision(3)).join(", "));
    for (const { name, times } of [waiting, ...rows]) console.log(`| ${name} | ${us(times[0])} | ${us(times[1])} |`);
  }
  await cpu.dispose();
}

const here = fileURLToPath(new URL(".", import.meta.url));
const asked = process.argv.slice(2);
const files = asked.filter((name) => !name.startsWith("--"));
const sizes = asked.find((name) => name.startsWith("--sizes="))?.slice(8).split(",").map(Number) ?? [...SHORT, ...SIZES];
if (files.length === 0) throw new Error("give files to compress");
if (!asked.includes("--built")) await run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: here });
const once = Buffer.concat(await Promise.all(files.map((file) => readFile(file))));
const content = new Uint8Array(SIZES.at(-1));
for (let at = 0; at < content.length; at += once.length) content.set(once.subarray(0, content.length - at), at);
await init();
const list = await contenders();
console.log(`Node ${process.version}, ${cpus()[0].model}`);
// Sizes start at different positions of the content, so that small ones differ.
if (sizes.includes(SHORT[0])) await printCalls(list, content.subarray(once.length >> 1));
for (const [i, size] of SIZES.entries()) {
  if (!sizes.includes(size)) continue;
  const start = size < once.length / 2 ? Math.floor((once.length / 2 / SIZES.length) * i) : 0;
  print(size, compare(list, content.slice(start, start + size)));
}
