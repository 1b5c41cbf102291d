// Benchmarks the adapters beside what their users take today, on one thread of Node:
// node benches/adapters/run.mjs FILE NUMBERS
//
// FILE is any content; NUMBERS is an array of 16-bit numbers, such as an image. Prints a Markdown table for each format and
// length: ratio, and MB/s of content in both directions, best and median of rounds in which the packages take turns in random
// order. Each result is verified first, also by the other packages. Needs dist/: `npm run build`. --built uses the packages as
// installed.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { cpus } from "node:os";
import { fileURLToPath } from "node:url";
import { lz4Frame } from "../../dist/adapters/arrow.js";
import { bitshuffle, lz4 as hdf5Lz4 } from "../../dist/adapters/hdf5.js";
import { decompressHandlers } from "../../dist/adapters/mcap.js";
import { compressors, decompressors } from "../../dist/adapters/parquet.js";
import { blosc, lz4 } from "../../dist/adapters/zarr.js";
import { run } from "../../scripts/build/run.mjs";

const LENGTHS = [64e3, 1 << 20];
const N_ROUNDS = 15;
/** Minimum duration of a measurement, for which calls are repeated. */
const LEAST_MS = 20;
const ELEMENT_BYTES = 2;

/** Returns the contenders of frames: buffers of Arrow, chunks of MCAP. */
async function frames() {
  const ours = await lz4Frame();
  const { lz4: chunk } = await decompressHandlers();
  const { default: lz4js } = await import("lz4js");
  const { default: foxglove } = await import("@foxglove/wasm-lz4");
  await foxglove.isLoaded;
  return [
    { name: "pagepress, `lz4Frame`", encode: ours.encode, decode: ours.decode },
    { name: "pagepress, `decompressHandlers`", decode: (packed, length) => chunk(packed, BigInt(length)) },
    { name: "@foxglove/wasm-lz4", decode: (packed, length) => foxglove(packed, length) },
    { name: "lz4js", encode: (bytes) => lz4js.compress(bytes), decode: (packed) => lz4js.decompress(packed) },
  ];
}

/** Returns the contenders of blocks of known length: pages of Parquet. */
async function blocks() {
  const [reading, writing] = [await decompressors(), await compressors()];
  const { compressors: theirs } = await import("hyparquet-compressors");
  return [
    { name: "pagepress, `LZ4_RAW`", encode: writing.LZ4_RAW, decode: reading.LZ4_RAW },
    { name: "hyparquet-compressors", decode: (packed, length) => theirs.LZ4_RAW(packed, length) },
  ];
}

/** Returns the contenders of blocks with their size before them: chunks of Zarr. */
async function sized() {
  const ours = (await lz4()).fromConfig();
  const { default: Lz4 } = await import("numcodecs/lz4");
  const { default: lz4Wasm } = await import("lz4-wasm-nodejs");
  const theirs = Lz4.fromConfig({ id: "lz4", acceleration: 1 });
  return [
    { name: "pagepress, `lz4` of Zarr", encode: ours.encode, decode: (packed) => ours.decode(packed) },
    { name: "numcodecs, LZ4", encode: (bytes) => theirs.encode(bytes), decode: (packed) => theirs.decode(packed) },
    { name: "lz4-wasm", encode: lz4Wasm.compress, decode: (packed) => lz4Wasm.decompress(packed) },
  ];
}

/** Returns the contenders of Blosc chunks with one of the shuffles. numcodecs.js shuffles only elements of four bytes. */
async function chunks(shuffle) {
  const { default: Blosc } = await import("numcodecs/blosc");
  const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle, blocksize: 0 };
  const theirs = Blosc.fromConfig(config);
  const Ours = await blosc();
  const probe = await theirs.encode(new Uint8Array(1 << 16));
  const typesize = probe[3];
  const [equal, fitting] = [typesize, ELEMENT_BYTES].map((size) => Ours.fromConfig({ ...config, typesize: size }));
  return [
    { name: `pagepress, elements of ${typesize} bytes`, encode: (bytes) => equal.encode(bytes), decode: (packed) => equal.decode(packed) },
    { name: `numcodecs, Blosc, elements of ${typesize} bytes`, encode: (bytes) => theirs.encode(bytes), decode: (packed) => theirs.decode(packed) },
    { name: `pagepress, elements of ${ELEMENT_BYTES} bytes`, encode: (bytes) => fitting.encode(bytes), decode: (packed) => fitting.decode(packed) },
  ];
}

/** Returns the chunk that HDF5's filter LZ4 makes of one block. */
function chunkOf(block, length) {
  const chunk = new Uint8Array(16 + block.length);
  const numbers = new DataView(chunk.buffer);
  [[4, length], [8, length], [12, block.length]].forEach(([at, number]) => numbers.setUint32(at, number));
  chunk.set(block, 16);
  return chunk.buffer;
}

/** HDF5's filters. No other package offers them to JavaScript; bit shuffle alone is its own inverse only by Blosc. */
async function filters() {
  const [filter, bits, { LZ4_RAW }] = [await hdf5Lz4(), await bitshuffle(), await compressors()];
  return [
    { name: "pagepress, filter LZ4", encode: (bytes) => chunkOf(LZ4_RAW(bytes), bytes.length), decode: (packed) => new Uint8Array(filter(packed, ELEMENT_BYTES)) },
    { name: "pagepress, bitshuffle without compression", onlyTime: true, decode: (packed, length, bytes) => bits(bytes.buffer, ELEMENT_BYTES, [0, 4, ELEMENT_BYTES, 0, 0]) },
  ];
}

/** Returns the milliseconds of one call of `work`, averaged over repeated calls. */
async function time(work) {
  let calls = 0;
  const start = performance.now();
  let now = start;
  for (; now - start < LEAST_MS; now = performance.now()) {
    const result = work();
    if (result instanceof Promise) await result;
    calls += 1;
  }
  return (now - start) / calls;
}

/** Runs the contenders on the same content; each decodes what it encodes, or what the first encodes, after the check that all
 * read what the others write. */
async function compare(list, bytes) {
  const packed = new Map();
  for (const { name, encode } of list) if (encode) packed.set(name, await encode(bytes));
  for (const { name, decode, onlyTime } of list) {
    for (const [by, one] of packed) {
      if (!onlyTime) assert.ok(Buffer.from(bytes).equals(await decode(one, bytes.length, bytes)), `${name} reads ${by}`);
    }
  }
  const [first] = packed.values();
  const rows = list.map((one) => ({ ...one, ratio: one.encode && bytes.length / packed.get(one.name).byteLength, times: [[], []] }));
  for (let round = 0; round < N_ROUNDS; round += 1) {
    for (const row of rows.map((one) => [Math.random(), one]).sort(([a], [b]) => a - b).map(([, one]) => one)) {
      if (row.encode) row.times[0].push(await time(() => row.encode(bytes)));
      row.times[1].push(await time(() => row.decode(packed.get(row.name) ?? first, bytes.length, bytes)));
    }
  }
  return rows;
}

function print(title, length, rows) {
  console.log(`\n${title}, ${length} bytes\n\n| | ratio | encode MB/s | decode MB/s |\n|---|---|---|---|`);
  const speed = (times) => {
    const sorted = times.toSorted((a, b) => a - b);
    return times.length === 0 ? "" : [sorted[0], sorted[times.length >> 1]].map((ms) => (length / 1e3 / ms).toPrecision(3)).join(", ");
  };
  for (const { name, ratio, times } of rows) console.log(`| ${name} | ${ratio ? ratio.toFixed(2) : ""} | ${speed(times[0])} | ${speed(times[1])} |`);
}

const here = fileURLToPath(new URL(".", import.meta.url));
const files = process.argv.slice(2).filter((name) => !name.startsWith("--"));
if (files.length !== 2) throw new Error("give a file of any content, and a file of 16-bit numbers");
if (!process.argv.includes("--built")) await run("npm", ["install", "--no-audit", "--no-fund", "--no-package-lock"], { cwd: here });
const [content, numbers] = await Promise.all(files.map(async (file) => new Uint8Array(await readFile(file))));
console.log(`Node ${process.version}, ${cpus()[0].model}`);
const shuffles = ["no shuffle", "byte shuffle", "bit shuffle"].map((name, i) => [`Blosc, ${name}`, () => chunks(i), numbers]);
const all = [["Frames", frames, content], ["Blocks", blocks, content], ["Blocks with their size", sized, content], ...shuffles, ["HDF5", filters, numbers]];
for (const [title, open, source] of all) {
  const list = await open();
  for (const length of LENGTHS) print(title, length, await compare(list, source.slice(source.length >> 2, (source.length >> 2) + length)));
}
