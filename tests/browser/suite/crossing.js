// Tests combinations of engine, call, block size, page kind, short last page and level. The output of one engine is
// decoded by a decoder that shares no code with the package, and by the other engine.
import {
  compressSync,
  createCompressor,
  decompressSync,
  init,
  Lz4CompressionStream,
  Lz4DecompressionStream,
  openFrame,
  PagepressError,
} from "/dist/internals.js";
import { contentOf } from "./buffers.js";
import { check, rejects, same } from "./check.js";
import { join, pageKinds, pageOf } from "./data.js";
import { openAuto, shareAlways, startWorkers } from "./engines.js";
import { decodeFrames, decodePages } from "./naive.js";
import { collect, source } from "./pipes.js";

shareAlways();

const pageSizes = [4096, 8192, 16384, 32768, 65536];
const kindNames = Object.keys(pageKinds);
/** Minimum size of content that is split among workers, and that `"auto"` runs on a GPU. */
const SHARED_BYTES = 2 ** 18;
const AUTO_BYTES = 2 ** 20;

/** Options of frames, which rotate over the inputs, so that each is combined with every kind and tail. */
const frameKinds = [
  {},
  { contentChecksum: false, index: true },
  { blockChecksums: true },
  { blockChecksums: true, contentChecksum: false, index: true },
  { contentChecksum: false },
];

/** Lengths of the last page: multiples of 8, which can be fill pages, others, which cannot, and 0 for no short page. */
const tailsOf = (blockSize) => [24, blockSize - 1, blockSize - 8, 1, 8, 0];

const pages = new Map();

/** Returns a page of a kind from a cache. */
function page(kind, length, seed) {
  const key = `${kind} ${length} ${seed}`;
  if (!pages.has(key)) pages.set(key, pageOf(kind, length, seed));
  return pages.get(key);
}

/** Number of lengths of the last page that are combined with each kind of page, by block size. */
const tailsOfKind = (blockSize) => (blockSize === 4096 ? 6 : blockSize < 32_768 ? 2 : 1);

/**
 * Yields inputs of a page of each kind, one of another kind, and a short last page of the first kind. Blocks of 4096 bytes
 * are combined with all lengths of the last page, larger ones with two, the largest with one, which vary with kind and level.
 */
function* shortInputs(blockSize, level) {
  let n = 0;
  for (const [i, kind] of kindNames.entries()) {
    const [tails, nTails] = [tailsOf(blockSize), tailsOfKind(blockSize)];
    const first = (nTails * (i + level.length)) % tails.length;
    for (const tail of tails.slice(first, first + nTails)) {
      const next = kindNames[(i + 1 + n) % kindNames.length];
      const bytes = join([page(kind, blockSize, n % 7), page(next, blockSize, n % 5), page(kind, tail, n % 3)]);
      yield { what: `${kind}, ${next}, ${tail} bytes`, bytes, frame: frameKinds[n % frameKinds.length], n };
      n += 1;
    }
  }
}

/** Yields inputs of at least `least` bytes with pages of all kinds and a last page of varying kind and length. */
function* longInputs(blockSize, leastBytes, nInputs) {
  for (let n = 0; n < nInputs; n += 1) {
    const parts = [];
    for (let i = 0; i * blockSize < leastBytes || i < kindNames.length; i += 1) {
      parts.push(page(kindNames[i % kindNames.length], blockSize, (i + n) % 7));
    }
    const [kind, tail] = [kindNames[(n + 9) % kindNames.length], tailsOf(blockSize)[(n + 4) % 6]];
    parts.push(page(kind, tail, n));
    yield { what: `all kinds, then ${tail} bytes of ${kind}`, bytes: join(parts), frame: frameKinds[n % frameKinds.length], n };
  }
}

/** Compresses `bytes` with a stream; every second stream has the option for the content size. */
function streamed(compressor, { bytes, frame, n }, options) {
  const size = n % 2 === 0 ? { contentSize: bytes.length } : {};
  return collect(source(bytes).pipeThrough(new Lz4CompressionStream({ ...options, ...frame, ...size, compressor })));
}

/** Creates a buffer on the device with `bytes`. */
function bufferOf(device, bytes) {
  const size = Math.max(4, Math.ceil(bytes.length / 4) * 4);
  const buffer = device.createBuffer({ size, usage: GPUBufferUsage.STORAGE, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return buffer;
}

/** Reads the first bytes of a buffer and destroys it. */
async function taken(device, { buffer, byteLength }) {
  const bytes = await contentOf(device, buffer, byteLength);
  buffer.destroy();
  return bytes;
}

/** Compresses `bytes` with `compressResident`, and decompresses the result without leaving the GPU. */
async function resident(gpu, bytes, options) {
  const buffer = bufferOf(gpu.device, bytes);
  const made = await gpu.compressResident(buffer, { ...options, byteLength: bytes.length });
  const read = await made.read();
  const back = await taken(gpu.device, await gpu.decompressResident(made));
  made.destroy();
  buffer.destroy();
  return { read, back };
}

/** Checks a frame with all independent readers: the naive decoder, the CPU module, random access, and a stream. */
async function checkFrame(frame, { bytes, what, n }) {
  same(decodeFrames(frame), bytes, `${what}, naive decoder`);
  same(decompressSync(frame), bytes, `${what}, decompressSync`);
  const file = await openFrame(frame);
  const start = (n * 4099) % bytes.length;
  same(await file.read(start, bytes.length), bytes.subarray(start), `${what}, openFrame from ${start}`);
  const stream = new Lz4DecompressionStream({ backend: "cpu", workers: 0 });
  if (n % 3 === 0) same(await collect(source(frame).pipeThrough(stream)), bytes, `${what}, stream`);
}

/** Fails unless the last call ran on `engine`. */
function checkEngine(compressor, engine, what) {
  const { engine: actual, reason, workers } = compressor.lastTiming;
  check(actual === engine, `${what} ran on ${actual}: ${reason}`);
  return workers;
}

/** Tests that `write(into)` writes `expected` to the start of a part of an array that was in use, and nothing around it, and that it
 * refuses an array that is a byte too short. */
async function writesInto(write, expected, what) {
  const { length } = expected;
  const used = new Uint8Array(length + 300).fill(7);
  const made = await write(used.subarray(100, length + 200));
  check(made.buffer === used.buffer && made.byteOffset === 100, `${what}: another place`);
  same(made, expected, `${what}, into an array`);
  const around = [used.subarray(0, 100), used.subarray(length + 100)];
  check(around.every((part) => part.every((byte) => byte === 7)), `${what}: more was written`);
  if (length > 0) await rejects(write(used.subarray(0, length - 1)), "OUTPUT_LIMIT", PagepressError);
}

/** Tests the compression of pages to a part of an array that was in use, given the pages in a new one. */
function packsInto(compressor, bytes, options, { packed, table }, what) {
  const write = async (into) => {
    const made = await compressor.compressPages(bytes, { ...options, into });
    same(made.table, table, `${what}, the table`);
    return made.packed;
  };
  return writesInto(write, packed, what);
}

/** Tests the decompression of pages to a new array and to a part of one that was in use. */
async function unpacks(compressor, packed, bytes, what) {
  same(await compressor.decompressPages(packed), bytes, what);
  await writesInto((into) => compressor.decompressPages(packed, { into }), bytes, what);
}

/** Tests all calls of the GPU, with the CPU for the other direction. */
function onGpu(blockSize, level) {
  return withCompressors(["gpu", "cpu"], async ({ gpu, cpu }) => {
    for (const input of shortInputs(blockSize, level)) {
      const { bytes, frame: options, n, what } = input;
      const frame = await gpu.compress(bytes, { ...options, blockSize, level });
      checkEngine(gpu, "webgpu", "compress");
      await checkFrame(frame, input);
      const packed = await gpu.compressPages(bytes, { pageSize: blockSize, level });
      checkEngine(gpu, "webgpu", "compressPages");
      same(decodePages(packed), bytes, `${what}, pages, naive decoder`);
      same(await cpu.decompressPages(packed), bytes, `${what}, pages on the CPU`);
      if (n % 3 === 1) await packsInto(gpu, bytes, { pageSize: blockSize, level }, packed, `${what}, pages`);
      // The remaining calls share code for all kinds, so each is tested with every kind but only some tails.
      if (n % 2 === 0) same(decodeFrames(await streamed(gpu, input, { blockSize, level })), bytes, `${what}, compression stream`);
      if (n % 2 === 1) {
        const { read, back } = await resident(gpu, bytes, { pageSize: blockSize, level });
        same(decodePages(read), bytes, `${what}, resident, naive decoder`);
        same(back, bytes, `${what}, resident and back`);
      }
      const theirs = compressSync(bytes, { ...options, blockSize, level });
      if (n % 3 === 0) same(await gpu.decompress(theirs), bytes, `${what}, the CPU's frame on the GPU`);
      if (n % 3 === 1) same(await taken(gpu.device, await gpu.decompressResident(theirs)), bytes, `${what}, the CPU's frame to a buffer`);
      if (n % 3 === 2) {
        const pages = await cpu.compressPages(bytes, { pageSize: blockSize, level });
        const { bytes: content, status } = await gpu.checkPages(pages);
        same(content, bytes, `${what}, the CPU's pages on the GPU`);
        check(status.every((code) => code === 0), `${what}: ${status}`);
        await unpacks(gpu, pages, bytes, `${what}, the CPU's pages on the GPU, strictly`);
      }
    }
  });
}

/** Tests the CPU without workers and the synchronous calls, with all levels and a block size that GPUs do not support. */
function inPlace(blockSize, level) {
  return withCompressors(["cpu"], async ({ cpu }) => {
    for (const input of shortInputs(blockSize, level)) {
      const { bytes, frame: options, n, what } = input;
      const frame = await cpu.compress(bytes, { ...options, blockSize, level });
      await checkFrame(frame, input);
      same(await cpu.decompress(frame), bytes, `${what}, decompress`);
      same(compressSync(bytes, { ...options, blockSize, level }), frame, `${what}, compressSync`);
      if (n % 2 === 0) same(decodeFrames(await streamed(cpu, input, { blockSize, level })), bytes, `${what}, compression stream`);
      if (!pageSizes.includes(blockSize)) continue;
      const packed = await cpu.compressPages(bytes, { pageSize: blockSize, level });
      same(decodePages(packed), bytes, `${what}, pages, naive decoder`);
      await packsInto(cpu, bytes, { pageSize: blockSize, level }, packed, `${what}, pages`);
      await unpacks(cpu, packed, bytes, `${what}, pages`);
    }
  });
}

/** Tests inputs that are split among workers. */
function onWorkers(blockSize, level) {
  return withCompressors(["pool"], async ({ pool }) => {
    for (const input of longInputs(blockSize, SHARED_BYTES, 3)) {
      const { bytes, frame: options, what } = input;
      const frame = await pool.compress(bytes, { ...options, blockSize, level });
      check(checkEngine(pool, "cpu", "compress") === 4, `${what}: compressed without workers`);
      await checkFrame(frame, input);
      same(await pool.decompress(frame), bytes, `${what}, decompress`);
      same(decodeFrames(await streamed(pool, input, { blockSize, level })), bytes, `${what}, compression stream`);
      const packed = await pool.compressPages(bytes, { pageSize: blockSize, level });
      check(checkEngine(pool, "cpu", "compressPages") === 4, `${what}: packed without workers`);
      same(decodePages(packed), bytes, `${what}, pages, naive decoder`);
      await packsInto(pool, bytes, { pageSize: blockSize, level }, packed, `${what}, pages`);
      await unpacks(pool, packed, bytes, `${what}, pages`);
    }
  });
}

/** Tests the choice between both engines, with a calibration that prefers the GPU. */
function onBoth(blockSize, level) {
  return withCompressors(["auto"], async ({ auto }) => {
    for (const input of longInputs(blockSize, AUTO_BYTES, 1)) {
      const { bytes, frame: options, what } = input;
      const frame = await auto.compress(bytes, { ...options, blockSize, level });
      checkEngine(auto, "webgpu", "compress");
      await checkFrame(frame, input);
      same(await auto.decompress(frame), bytes, `${what}, decompress`);
      const stream = new Lz4CompressionStream({ ...options, blockSize, level, compressor: auto, contentSize: bytes.length });
      same(decodeFrames(await collect(source(bytes).pipeThrough(stream))), bytes, `${what}, compression stream`);
      checkEngine(auto, "webgpu", "a compression stream");
      const packed = await auto.compressPages(bytes, { pageSize: blockSize, level });
      checkEngine(auto, "webgpu", "compressPages");
      same(decodePages(packed), bytes, `${what}, pages, naive decoder`);
      await packsInto(auto, bytes, { pageSize: blockSize, level }, packed, `${what}, pages`);
      await unpacks(auto, packed, bytes, `${what}, pages`);
    }
  });
}

const opening = {
  gpu: () => createCompressor({ backend: "webgpu", allowSoftware: true }),
  cpu: () => createCompressor({ backend: "cpu", workers: 0 }),
  pool: async () => startWorkers(await createCompressor({ backend: "cpu", workers: 4 })),
  auto: () => openAuto({ compressFrom: 1, decompressFrom: 1 }),
};

/** Runs `work` with the compressors of these names. */
async function withCompressors(names, work) {
  await init();
  const opened = [];
  try {
    for (const name of names) opened.push([name, await opening[name]()]);
    await work(Object.fromEntries(opened));
  } finally {
    for (const [, compressor] of opened) await compressor.dispose();
  }
}

const crossed = (engine, work, sizes, levels) =>
  sizes.flatMap((size) => levels.map((level) => [`${engine}, blocks of ${size}, ${level}`, () => work(size, level)]));

// SwiftShader takes up to 4 s for an input at level "high": conformance.js compares its pages of the other sizes.
export const cases = [
  ...crossed("webgpu", onGpu, pageSizes, ["fast"]),
  ...crossed("webgpu", onGpu, [4096], ["high"]),
  ...crossed("cpu", inPlace, pageSizes, ["fast", "high", "sequential"]),
  ...crossed("cpu", inPlace, [262_144], ["sequential"]),
  ...crossed("workers", onWorkers, pageSizes, ["fast", "high", "sequential"]),
  ...crossed("auto", onBoth, [4096, 65536], ["fast"]),
  ...crossed("auto", onBoth, [8192], ["high"]),
];
