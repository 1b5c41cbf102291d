// Tests compression streams on workers: the same bytes and errors as on the calling thread, and no loss of data when a
// worker dies.
import { compressSync, createCompressor, init, Lz4CompressionStream, openFrame, PagepressError } from "/dist/internals.js";
import { check, rejects, same, soon } from "./check.js";
import { kinds, mixed } from "./data.js";
import { shareAlways, startWorker, startWorkers } from "./engines.js";
import { collect, source } from "./pipes.js";

shareAlways();

const MIB = 2 ** 20;

/** Returns true if a worker is asked to compress a part of a stream: streams have the level "high" here, other calls "fast". */
const isOfStream = ({ call, args }) => call === "compressBlocks" && args[1].level === "high";

/** Compresses `bytes` with a stream. */
const compressed = (bytes, options) => collect(source(bytes).pipeThrough(new Lz4CompressionStream(options)));

/** Returns a worker class that dies with its `n`-th part of a stream and records that in `deaths`. */
function mortal(n, deaths) {
  const worker = startWorker();
  let orders = 0;
  const shown = {
    postMessage(message, transfer) {
      if (isOfStream(message)) orders += 1;
      if (orders < n) return worker.postMessage(message, transfer);
      worker.terminate();
      structuredClone(message, { transfer });
      if (orders > n) return;
      deaths.push(message.call);
      setTimeout(() => shown.onerror({ message: "died" }));
    },
    terminate: () => worker.terminate(),
  };
  worker.onmessage = (event) => shown.onmessage?.(event);
  worker.onerror = (event) => shown.onerror?.(event);
  return shown;
}

async function writesTheSameBytes() {
  await init();
  const compressor = await startWorkers(await createCompressor({ backend: "cpu", workers: 3 }));
  const all = mixed(65536, 9);
  for (const length of [0, 100, 300_000, all.length]) {
    const bytes = all.subarray(0, length);
    for (const [blockSize, level] of [[4096, "fast"], [65536, "high"], [100_000, "sequential"], [4 << 20, "fast"]]) {
      for (const [blockChecksums, contentChecksum, index] of [[false, true, false], [true, false, false], [true, true, true]]) {
        const options = { blockSize, level, blockChecksums, contentChecksum, index };
        const what = `${length} bytes, ${JSON.stringify(options)}`;
        same(await compressed(bytes, { ...options, compressor, contentSize: length }), compressSync(bytes, options), what);
        check(compressor.lastTiming.workers === (length < 262_144 ? undefined : 3), `${what}: ${compressor.lastTiming.workers} workers`);
      }
    }
    // The header differs without a content size.
    const alone = await createCompressor({ backend: "cpu", workers: 0 });
    const expected = await compressed(bytes, { compressor: alone, index: true });
    same(await compressed(bytes, { compressor, index: true }), expected, `${length} bytes of a stream without a size`);
    await alone.dispose();
  }
  await compressor.dispose();
}

async function survivesDeadWorkers() {
  await init();
  const bytes = mixed(65536, 16);
  const options = { level: "high", index: true };
  const expected = compressSync(bytes, options);
  const deaths = [];
  const dying = () => mortal(2 + deaths.length, deaths);
  const refuse = () => {
    throw new Error("no workers today");
  };
  const missing = () => new Worker("/dist/no-such-file.js", { type: "module" });
  for (const createWorker of [dying, refuse, missing]) {
    const compressor = await createCompressor({ backend: "cpu", workers: 2, createWorker });
    if (createWorker === dying) await startWorkers(compressor);
    same(await compressed(bytes, { ...options, compressor, contentSize: bytes.length }), expected, "frame");
    await compressor.dispose();
  }
  check(deaths.length > 0 && deaths.every((call) => call === "compressBlocks"), `died with ${deaths}`);
}

async function reportsErrors() {
  const compressor = await createCompressor({ backend: "cpu", workers: 2 });
  const bytes = kinds.text(3 * MIB);
  for (const contentSize of [5, 3 * MIB - 1, 3 * MIB + 1]) {
    await rejects(compressed(bytes, { compressor, contentSize }), "CONTENT_SIZE_MISMATCH", PagepressError);
  }
  for (const blockSize of [0, 5, 8 * MIB]) {
    await rejects(compressed(bytes, { compressor, blockSize }), "INVALID_ARGUMENT", PagepressError);
  }
  await rejects(compressed(bytes, { compressor, level: "slow" }), "INVALID_ARGUMENT", PagepressError);
  same(await compressor.decompress(await compressed(bytes, { compressor })), bytes, "after all that");
  const disposed = new Lz4CompressionStream({ compressor });
  const writer = disposed.writable.getWriter();
  const read = rejects(collect(disposed.readable), "DISPOSED", PagepressError);
  await writer.write(bytes);
  writer.closed.catch(() => undefined);
  await compressor.dispose();
  await rejects(writer.close(), "DISPOSED", PagepressError);
  await read;
}

/** Every way to stop a stream stops it soon, and workers get no more of its parts. */
async function stopsInTime() {
  const bytes = kinds.text(8 * MIB);
  for (const how of ["signal", "cancel", "abort"]) {
    for (const isStarted of [true, false]) {
      const what = `${how}, workers ${isStarted ? "" : "not "}started`;
      await soon(what, 1000, () => stopStream(bytes, how, isStarted, what));
    }
  }
}

/** Stops a stream whose workers are started or not, and returns how long that takes. */
async function stopStream(bytes, how, isStarted, what) {
  const reason = new Error("enough");
  const outcome = (work) => work.then(() => "done", (error) => error);
  let orders = 0;
  let begin = () => undefined;
  const begun = new Promise((resolve) => (begin = resolve));
  const createWorker = async () => {
    if (!isStarted) await begun;
    const worker = startWorker();
    const { postMessage } = worker;
    worker.postMessage = (message, transfer) => {
      if (isOfStream(message)) orders += 1;
      postMessage.call(worker, message, transfer);
    };
    return worker;
  };
  const compressor = await createCompressor({ backend: "cpu", workers: 2, createWorker, level: "high" });
  if (isStarted) await startWorkers(compressor);
  const controller = new AbortController();
  const stream = new Lz4CompressionStream({ compressor, signal: controller.signal });
  const [reader, writer] = [stream.readable.getReader(), stream.writable.getWriter()];
  writer.closed.catch(() => undefined);
  const written = outcome(writer.write(bytes));
  const read = outcome(reader.read());
  await new Promise((resolve) => setTimeout(resolve, 30));
  const start = performance.now();
  if (how === "signal") controller.abort(reason);
  if (how === "cancel") await reader.cancel(reason);
  if (how === "abort") await writer.abort(reason);
  check((await written) === reason, `${what}: the write ${await written}`);
  const atEnd = orders;
  await compressor.compress(new Uint8Array(1000));
  const ms = performance.now() - start;
  check(isStarted === orders > 0, `${what}: ${orders} orders before it was stopped`);
  begin();
  same(await compressor.decompress(await compressor.compress(bytes, { level: "fast" })), bytes, `${what}: the compressor after it`);
  check(orders === atEnd, `${what}: ${orders - atEnd} orders after it was stopped`);
  await compressor.dispose();
  return ms;
}

async function sharesACompressor() {
  await init();
  const compressor = await createCompressor({ backend: "cpu", workers: 2 });
  const inputs = Object.values(kinds).map((kind) => kind(4 * MIB + 5));
  const frames = await Promise.all(
    inputs.map((bytes) => compressed(bytes, { compressor, contentSize: bytes.length, index: true })),
  );
  frames.forEach((frame, i) => same(frame, compressSync(inputs[i], { index: true }), `frame ${i}`));
  await compressor.dispose();
}

async function reportsProgress() {
  const compressor = await createCompressor({ backend: "cpu", workers: 2 });
  const bytes = mixed(65536, 16);
  const seen = [];
  const onProgress = (progress) => seen.push(progress);
  const frame = await compressed(bytes, { compressor, contentSize: bytes.length, onProgress });
  check(seen.length > 4, `${seen.length} reports`);
  for (const [i, { bytesIn, bytesOut, totalBytes }] of seen.entries()) {
    const before = seen[i - 1] ?? { bytesIn: 0, bytesOut: 0 };
    check(bytesIn >= before.bytesIn && bytesOut >= before.bytesOut && totalBytes === bytes.length, JSON.stringify(seen));
    check(i === seen.length - 1 || bytesIn < bytes.length, "all is done before the end");
  }
  check(seen.at(-1).bytesIn === bytes.length && seen.at(-1).bytesOut === frame.length, JSON.stringify(seen.at(-1)));
  const oops = new Error("oops");
  const throwing = () => {
    throw oops;
  };
  const error = await compressed(bytes, { compressor, onProgress: throwing }).catch((reason) => reason);
  check(error === oops, `rejected with ${error}`);
  same(await compressor.decompress(frame), bytes, "content");
  await compressor.dispose();
}

/** No chunk of any size is empty, and an index locates the blocks of workers. */
async function writesChunksAndIndexes() {
  await init();
  const bytes = mixed(65536, 16);
  const stream = new Lz4CompressionStream({ backend: "cpu", workers: 2, index: true, blockSize: 16384, blockChecksums: true });
  const pieces = [];
  for (const reader = source(bytes).pipeThrough(stream).getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) break;
    pieces.push(value.slice());
  }
  check(pieces.length > 2 && pieces.every(({ length }) => length > 0), `${pieces.map(({ length }) => length)}`);
  const file = await openFrame(await new Blob(pieces).arrayBuffer());
  check(file.hasIndex, "no index");
  for (const [offset, length] of [[0, 1], [600_000, 70_000], [bytes.length - 5, 5]]) {
    same(await file.read(offset, length), bytes.subarray(offset, offset + length), `${offset}+${length}`);
  }
}

export const cases = [
  ["the same bytes as without workers", writesTheSameBytes],
  ["dead workers lose no data", survivesDeadWorkers],
  ["errors have codes", reportsErrors],
  ["stop soon", stopsInTime],
  ["share a compressor", sharesACompressor],
  ["report progress", reportsProgress],
  ["chunks and indexes", writesChunksAndIndexes],
];
