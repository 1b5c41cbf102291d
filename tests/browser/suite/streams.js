// Tests the web streams: pipes, backpressure, aborts.
import {
  compressSync,
  createCompressor,
  init,
  Lz4CompressionStream,
  Lz4DecompressionStream,
  openFrame,
  PagepressError,
} from "/dist/index.js";
import { abortAfter, check, rejects, same, soon } from "./check.js";
import { join, kinds, mixed } from "./data.js";
import { collect, source } from "./pipes.js";

const MIB = 2 ** 20;
const cpu = { backend: "cpu" };

async function pipes() {
  const compressor = await createCompressor(cpu);
  for (const length of [0, 1, 65536, MIB, 5 * MIB + 12345]) {
    const bytes = kinds.memory(length);
    const options = { ...cpu, contentSize: length, level: "high", blockChecksums: true };
    const frame = await collect(source(bytes).pipeThrough(new Lz4CompressionStream(options)));
    same(frame, await compressor.compress(bytes, { level: "high", blockChecksums: true }), `frame of ${length}`);
    same(await collect(source(frame).pipeThrough(new Lz4DecompressionStream(cpu))), bytes, `content of ${length}`);
  }
  await compressor.dispose();
}

async function readsConcatenatedFrames() {
  const compressor = await createCompressor(cpu);
  const [first, second] = [kinds.text(100_000), mixed(65536, 2)];
  const skippable = join([new Uint8Array([0x50, 0x2a, 0x4d, 0x18, 5, 0, 0, 0]), kinds.random(5)]);
  const empty = await compressor.compress(new Uint8Array(0));
  const frames = join([
    skippable,
    await compressor.compress(first),
    empty,
    skippable,
    await compressor.compress(second, { blockSize: 2 * MIB }),
    skippable,
  ]);
  for (const most of [3, 50_000]) {
    const input = most === 3 ? frames.subarray(0, 3000) : frames;
    const stream = source(input, { bytes: 0 }, most).pipeThrough(new Lz4DecompressionStream({ compressor }));
    if (most === 3) await rejects(collect(stream), "TRUNCATED_FRAME", PagepressError);
    else same(await collect(stream), join([first, second]), "content");
  }
  await compressor.dispose();
}

async function appliesBackpressure() {
  const compressor = await createCompressor(cpu);
  const bytes = kinds.random(24 * MIB);
  const given = { bytes: 0 };
  const stream = source(bytes, given).pipeThrough(new Lz4CompressionStream({ compressor }));
  await new Promise((resolve) => setTimeout(resolve, 200));
  check(given.bytes > 0 && given.bytes < 6 * MIB, `${given.bytes} bytes were taken before anything was read`);
  const reader = stream.getReader();
  let n = 0;
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) n += value.length;
  check(n > bytes.length && given.bytes === bytes.length, `${n} bytes of ${given.bytes}`);
  // A small input with a large output is read in chunks.
  const zeros = await compressor.compress(new Uint8Array(96 * MIB));
  const bomb = new Lz4DecompressionStream({ compressor });
  const writer = bomb.writable.getWriter();
  let isWritten = false;
  writer.write(zeros).then(() => (isWritten = true), () => undefined);
  writer.close().catch(() => undefined);
  const pieces = bomb.readable.getReader();
  const first = await pieces.read();
  await new Promise((resolve) => setTimeout(resolve, 200));
  check(first.value.length <= 8 * MIB, `a piece of ${first.value.length} bytes`);
  check(!isWritten, "all was decompressed before it was read");
  await pieces.cancel();
  await compressor.dispose();
}

async function reportsErrors() {
  const compressor = await createCompressor(cpu);
  const bytes = kinds.text(2 * MIB);
  const frame = await compressor.compress(bytes);
  const read = (input, options = {}) =>
    collect(source(input).pipeThrough(new Lz4DecompressionStream({ compressor, ...options })));
  await rejects(read(frame.subarray(0, frame.length - 1)), "TRUNCATED_FRAME", PagepressError);
  await rejects(read(bytes), "NOT_LZ4", PagepressError);
  await rejects(read(new Uint8Array(0)), "TRUNCATED_FRAME", PagepressError);
  await rejects(read(frame, { maxOutputSize: 2 * MIB - 1 }), "OUTPUT_LIMIT", PagepressError);
  const changed = frame.slice();
  changed[frame.length - 1] ^= 1;
  await rejects(read(changed), "CHECKSUM_MISMATCH", PagepressError);
  const wrongSize = new Lz4CompressionStream({ compressor, contentSize: 5 });
  await rejects(collect(source(bytes).pipeThrough(wrongSize)), "CONTENT_SIZE_MISMATCH", PagepressError);
  const wrongSizes = collect(source(bytes).pipeThrough(new Lz4CompressionStream({ compressor, blockSize: 5 })));
  await rejects(wrongSizes, "INVALID_ARGUMENT", PagepressError);
  const wrongEngine = new Lz4CompressionStream({ backend: "cuda" });
  await rejects(collect(source(bytes).pipeThrough(wrongEngine)), "INVALID_ARGUMENT", PagepressError);
  const text = new Lz4CompressionStream({ compressor });
  const textWriter = text.writable.getWriter();
  textWriter.closed.catch(() => undefined);
  const reading = rejects(collect(text.readable), "INVALID_ARGUMENT", PagepressError);
  await rejects(textWriter.write("text"), "INVALID_ARGUMENT", PagepressError);
  await reading;
  // The writer rejects with the error as well, also at the end.
  const cut = new Lz4DecompressionStream({ compressor });
  const writer = cut.writable.getWriter();
  const cutRead = rejects(collect(cut.readable), "TRUNCATED_FRAME", PagepressError);
  writer.write(frame.subarray(0, 1000)).catch(() => undefined);
  writer.closed.catch(() => undefined);
  await rejects(writer.close(), "TRUNCATED_FRAME", PagepressError);
  await cutRead;
  same(await compressor.decompress(frame), bytes, "the compressor after all that");
  await compressor.dispose();
}

async function stops() {
  const compressor = await createCompressor(cpu);
  const bytes = kinds.text(32 * MIB);
  const reason = new Error("enough");
  const outcome = (work) => work.then(() => "done", (error) => error);
  const controller = new AbortController();
  const signalled = new Lz4CompressionStream({ compressor, signal: controller.signal });
  const piped = source(bytes).pipeTo(signalled.writable);
  const readAll = outcome(collect(signalled.readable));
  setTimeout(() => controller.abort(reason), 10);
  check((await outcome(piped)) === reason, "the writer of a stream that is aborted");
  check((await readAll) === reason, "its reader");

  const aborted = new Lz4CompressionStream({ compressor });
  const writer = aborted.writable.getWriter();
  writer.closed.catch(() => undefined);
  const read = outcome(collect(aborted.readable));
  writer.write(bytes).catch(() => undefined);
  await writer.abort(reason);
  check((await read) === reason, "the reader of a stream whose writer aborts");

  const cancelled = new Lz4CompressionStream({ compressor });
  const writing = outcome(source(bytes).pipeTo(cancelled.writable));
  const reader = cancelled.readable.getReader();
  await reader.read();
  await reader.cancel(reason);
  check((await writing) === reason, "the writer of a stream whose reader cancels");
  const before = new Lz4DecompressionStream({ compressor, signal: AbortSignal.abort(reason) });
  check((await outcome(collect(before.readable))) === reason, "a signal that was aborted before");
  same(await compressor.decompress(await compressor.compress(bytes)), bytes, "the compressor after all that");
  await compressor.dispose();
}

async function sharesACompressor() {
  const compressor = await createCompressor({ ...cpu, level: "high" });
  const inputs = Object.values(kinds).map((kind) => kind(3 * MIB + 5));
  const frames = await Promise.all(
    inputs.map((bytes) => collect(source(bytes).pipeThrough(new Lz4CompressionStream({ compressor })))),
  );
  const contents = await Promise.all([
    ...frames.map((frame) => collect(source(frame).pipeThrough(new Lz4DecompressionStream({ compressor })))),
    ...frames.map((frame) => compressor.decompress(frame)),
  ]);
  contents.forEach((content, i) => same(content, inputs[i % inputs.length], `content ${i}`));
  const fast = await compressor.compress(inputs[3], { level: "fast" });
  check(frames[3].length < fast.length, "the level of the compressor");
  await compressor.dispose();
}

async function transfersChunksOnlyIfAsked() {
  for (const transfer of [false, true]) {
    const chunk = kinds.text(200_000);
    const stream = new Lz4CompressionStream({ ...cpu, transfer });
    const writer = stream.writable.getWriter();
    const frame = collect(stream.readable);
    await writer.write(chunk);
    await writer.close();
    check(chunk.length === (transfer ? 0 : 200_000), `${chunk.length} bytes are left`);
    const content = source(await frame).pipeThrough(new Lz4DecompressionStream(cpu));
    same(await collect(content), kinds.text(200_000), "content");
  }
}

async function reportsProgress() {
  const bytes = mixed(65536, 6);
  const seen = [];
  const options = { ...cpu, contentSize: bytes.length, onProgress: (progress) => seen.push(progress) };
  const frame = await collect(source(bytes).pipeThrough(new Lz4CompressionStream(options)));
  check(seen.length > 2 && seen.every(({ totalBytes, backend }) => totalBytes === bytes.length && backend === "cpu"), "reports");
  check(seen.every(({ bytesIn }, i) => bytesIn >= (seen[i - 1]?.bytesIn ?? 0)), "progress falls");
  check(seen.at(-1).bytesIn === bytes.length && seen.at(-1).bytesOut === frame.length, JSON.stringify(seen.at(-1)));
  const unknown = [];
  const stream = new Lz4DecompressionStream({ ...cpu, onProgress: (progress) => unknown.push(progress) });
  await collect(source(frame).pipeThrough(stream));
  check(unknown.at(-1).bytesIn === frame.length && unknown.at(-1).totalBytes === null, JSON.stringify(unknown.at(-1)));
}

export const cases = [
  ["pipes", pipes],
  ["concatenated frames", readsConcatenatedFrames],
  ["apply backpressure", appliesBackpressure],
  ["errors have codes", reportsErrors],
  ["stop", stops],
  ["share a compressor", sharesACompressor],
  ["detach chunks only with transfer", transfersChunksOnlyIfAsked],
  ["report progress", reportsProgress],
];

const gpu = { backend: "webgpu", allowSoftware: true };

async function runsOnTheGpu() {
  const bytes = mixed(65536, 1);
  const seen = [];
  const onProgress = (progress) => seen.push(progress);
  const frame = await collect(source(bytes).pipeThrough(new Lz4CompressionStream({ ...gpu, onProgress })));
  const onCpu = await collect(source(bytes).pipeThrough(new Lz4CompressionStream({ ...cpu, level: "fast" })));
  same(frame, onCpu, "frame");
  check(seen.length > 0 && seen.every(({ backend }) => backend === "webgpu"), JSON.stringify(seen));
  seen.length = 0;
  same(await collect(source(frame).pipeThrough(new Lz4DecompressionStream({ ...gpu, onProgress }))), bytes, "content");
  check(seen.length > 0 && seen.every(({ backend }) => backend === "cpu"), JSON.stringify(seen));
}

/** Block checksums and an index are added to the GPU's blocks; frames and streams equal those of the CPU. */
async function writesAllKindsOfFrames() {
  await init();
  const compressor = await createCompressor(gpu);
  const bytes = mixed(65536, 1);
  for (const blockSize of [4096, 65536]) {
    for (const [blockChecksums, contentChecksum, index] of [[true, true, false], [false, false, true], [true, false, true]]) {
      const options = { level: "fast", blockSize, blockChecksums, contentChecksum, index };
      const what = JSON.stringify(options);
      const expected = compressSync(bytes, options);
      same(await compressor.compress(bytes, options), expected, `frame, ${what}`);
      check(compressor.lastTiming.engine === "webgpu", `${what}: ${compressor.lastTiming.reason}`);
      const stream = new Lz4CompressionStream({ ...options, compressor, contentSize: bytes.length });
      same(await collect(source(bytes).pipeThrough(stream)), expected, `stream, ${what}`);
      check(compressor.lastTiming.engine === "webgpu", `${what}: ${compressor.lastTiming.reason}`);
    }
  }
  const file = await openFrame(await compressor.compress(bytes, { index: true, blockSize: 4096 }));
  check(file.hasIndex, "no index");
  same(await file.read(200_000, 70_000), bytes.subarray(200_000, 270_000), "a part");
  const short = new Lz4CompressionStream({ compressor, contentSize: bytes.length + 1 });
  await rejects(collect(source(bytes).pipeThrough(short)), "CONTENT_SIZE_MISMATCH", PagepressError);
  for (const options of [{}, { index: true, blockChecksums: true }]) {
    same(await compressor.compress(new Uint8Array(0), options), compressSync(new Uint8Array(0), options), "no content");
  }
  await compressor.dispose();
}

/** Calls of several jobs report the progress of each, and the engine. */
async function reportsGpuProgress() {
  const compressor = await createCompressor(gpu);
  // A job has 32 MiB. Pages of zeros are the fastest on a software GPU; the second job takes longer.
  const bytes = new Uint8Array(35 * MIB);
  bytes.set(mixed(65536, 4), 33 * MIB);
  let [pages, frame] = [];
  for (const [name, call] of [
    ["compressPages", async (options) => (pages = await compressor.compressPages(bytes, options))],
    ["decompressPages", (options) => compressor.decompressPages(pages, options)],
    ["compress", async (options) => (frame = await compressor.compress(bytes, options))],
    ["decompress", (options) => compressor.decompress(frame, options)],
  ]) {
    const seen = [];
    await call({ onProgress: (progress) => seen.push(progress) });
    const total = name === "decompress" ? frame.length : bytes.length;
    // Jobs that end at the same time may be reported together.
    const isSlow = name.startsWith("compress");
    check(seen.length > (isSlow ? 1 : 0), `${name}: ${JSON.stringify(seen)}`);
    for (const [i, { bytesIn, bytesOut, totalBytes, backend }] of seen.entries()) {
      const before = seen[i - 1] ?? { bytesIn: 0, bytesOut: 0 };
      const isHigher = bytesIn >= before.bytesIn && bytesOut >= before.bytesOut;
      const isEnd = i === seen.length - 1;
      check(isHigher && isEnd === (bytesIn === total), `${name}: ${JSON.stringify(seen)}`);
      check(totalBytes === total && backend === "webgpu", `${name}: ${JSON.stringify(seen)}`);
    }
  }
  await compressor.dispose();
}

/** Work that waits for the GPU is aborted at once, and the engine works afterwards. */
async function stopsOnTheGpu() {
  const compressor = await createCompressor(gpu);
  const bytes = mixed(65536, 4);
  const expected = await compressor.compress(bytes);
  const pages = await compressor.compressPages(bytes);
  for (const [name, call] of [
    ["compress", (signal) => compressor.compress(bytes, { signal })],
    ["decompress", (signal) => compressor.decompress(expected, { signal })],
    ["compressPages", (signal) => compressor.compressPages(bytes, { signal })],
    ["decompressPages", (signal) => compressor.decompressPages(pages, { signal })],
  ]) {
    await soon(name, 1000, async () => {
      const { signal, since } = abortAfter(5, name);
      const outcome = await call(signal).then(() => "done", (error) => error);
      // A hardware GPU could finish before the abort; a software GPU does not.
      const isTooQuick = outcome === "done" && !signal.aborted && !compressor.backend.software;
      check(isTooQuick || outcome === name, `${name}: ${outcome}`);
      return isTooQuick ? 0 : since();
    });
    same(await compressor.compress(bytes), expected, `after an aborted ${name}`);
    check(compressor.lastTiming.engine === "webgpu", compressor.lastTiming.reason);
  }
  same(await compressor.decompressPages(pages), bytes, "at the end");
  await compressor.dispose();
}

/** The cases that workers with a GPU run too: the other results do not depend on the scope. */
export const casesInWorkers = [
  ["streams run on the GPU", runsOnTheGpu],
  ["an abort stops work on the GPU", stopsOnTheGpu],
];

export const casesWithGpu = [
  ...casesInWorkers,
  ["frames of all kinds on the GPU", writesAllKindsOfFrames],
  ["calls report the progress of the GPU", reportsGpuProgress],
];
