// Tests the options of all calls (signals, progress, limits, transfer, formats) and the synchronous calls.
import {
  compress, compressSync, createCompressor, decompress, decompressSync, init, Lz4CompressionStream, PagepressError, timingOf,
} from "/dist/index.js";
import { abortAfter, check, rejects, same, soon } from "./check.js";
import { kinds, mixed } from "./data.js";
import { collect, source } from "./pipes.js";

const MIB = 2 ** 20;
/** Maximum time between an abort and the end of the work on a slow machine, where the work takes many seconds. */
const STOP_MS = 1000;

const later = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Fails unless `work` throws a `PagepressError` with this code. */
const throws = (work, code) => rejects(Promise.resolve().then(work), code, PagepressError);

async function needsInitForSync() {
  await throws(() => compressSync(new Uint8Array(1)), "NOT_READY");
  await init();
  const bytes = mixed(65536, 1);
  const frame = compressSync(bytes, { level: "high", blockChecksums: true });
  same(decompressSync(frame), bytes, "content");
  const cpu = await createCompressor({ backend: "cpu" });
  same(await cpu.compress(bytes, { level: "high", blockChecksums: true }), frame, "the frame of compress");
  await throws(() => compressSync(bytes, { maxOutputSize: 1000 }), "OUTPUT_LIMIT");
  await throws(() => decompressSync(frame, { maxOutputSize: bytes.length - 1 }), "OUTPUT_LIMIT");
  await throws(() => compressSync("text"), "INVALID_ARGUMENT");
  await throws(() => decompressSync(frame, { format: "zip" }), "INVALID_ARGUMENT");
  await throws(() => decompressSync(frame.subarray(0, 30)), "TRUNCATED_FRAME");
  await cpu.dispose();
}

/** Tests the module-level calls, which share one engine. */
async function worksAtModuleLevel() {
  const bytes = mixed(65536, 1);
  const frames = await Promise.all([compress(bytes), compress(bytes, { level: "high" })]);
  for (const frame of frames) same(await decompress(frame), bytes, "content");
  check(frames[1].length < frames[0].length, "the level is taken");
  check(timingOf(frames[0]).engine === "cpu", "engine");
  await rejects(compress(bytes, { levels: "high" }), "INVALID_ARGUMENT", PagepressError);
  await rejects(decompress(bytes), "NOT_LZ4", PagepressError);
}

/** Fails unless progress increases monotonically to `total`. */
function checkProgress(seen, total, least, backend) {
  check(seen.length >= least, `${seen.length} reports`);
  for (const [i, report] of seen.entries()) {
    check(report.totalBytes === total && report.backend === backend, JSON.stringify(report));
    const before = seen[i - 1] ?? { bytesIn: 0, bytesOut: 0 };
    check(report.bytesIn >= before.bytesIn && report.bytesOut >= before.bytesOut, JSON.stringify(seen));
  }
  check(seen.at(-1).bytesIn === total, `ends at ${seen.at(-1).bytesIn} of ${total}`);
}

async function reportsProgress() {
  const cpu = await createCompressor({ backend: "cpu" });
  const bytes = mixed(65536, 12);
  const watch = async (call) => {
    const seen = [];
    return [await call((progress) => seen.push(progress)), seen];
  };
  const [frame, compressed] = await watch((onProgress) => cpu.compress(bytes, { onProgress }));
  checkProgress(compressed, bytes.length, 4, "cpu");
  check(compressed.at(-1).bytesOut === frame.length, "bytes of the frame");
  const [content, decompressed] = await watch((onProgress) => cpu.decompress(frame, { onProgress }));
  checkProgress(decompressed, frame.length, 2, "cpu");
  check(decompressed.at(-1).bytesOut === content.length, "bytes of content");
  const [pages, packed] = await watch((onProgress) => cpu.compressPages(bytes, { onProgress }));
  checkProgress(packed, bytes.length, 4, "cpu");
  const [, unpacked] = await watch((onProgress) => cpu.decompressPages(pages, { onProgress }));
  checkProgress(unpacked, bytes.length, 4, "cpu");
  const [, empty] = await watch((onProgress) => cpu.compress(new Uint8Array(0), { onProgress }));
  checkProgress(empty, 0, 1, "cpu");
  const oops = new Error("oops");
  const onProgress = () => {
    throw oops;
  };
  for (const call of [
    () => cpu.compress(bytes, { onProgress }),
    () => cpu.decompress(frame, { onProgress }),
    () => cpu.compressPages(bytes, { onProgress }),
    () => cpu.decompressPages(pages, { onProgress }),
  ]) {
    const error = await call().catch((reason) => reason);
    check(error === oops, `rejected with ${error}`);
  }
  same(await cpu.decompress(frame), bytes, "after errors of the callback");
  await cpu.dispose();
}

async function stopsInTime() {
  const cpu = await createCompressor({ backend: "cpu", level: "high" });
  const bytes = new Uint8Array(48 * MIB);
  for (let at = 0, part = mixed(65536, 4); at < bytes.length; at += part.length) {
    bytes.set(part.subarray(0, bytes.length - at), at);
  }
  const frame = await cpu.compress(bytes, { level: "fast" });
  const pages = await cpu.compressPages(bytes, { level: "fast" });
  const small = kinds.text(1000);
  for (const [name, call] of [
    ["compress", (signal) => cpu.compress(bytes, { signal })],
    ["decompress", (signal) => cpu.decompress(frame, { signal })],
    ["compressPages", (signal) => cpu.compressPages(bytes, { signal })],
    ["decompressPages", (signal) => cpu.decompressPages(pages, { signal })],
  ]) {
    await soon(`${name} kept the engine`, STOP_MS, async () => {
      const reason = { why: name };
      const { signal, since } = abortAfter(15, reason);
      const outcome = await call(signal).then(() => "done", (error) => error);
      check(outcome === reason, `${name}: ${outcome}`);
      await cpu.compress(small);
      return since();
    });
  }
  same(await cpu.decompress(frame), bytes, "after aborts");
  await cpu.dispose();
}

async function stopsBeforeItsTurn() {
  const cpu = await createCompressor({ backend: "cpu" });
  const bytes = kinds.text(8 * MIB);
  const error = await cpu.compress(bytes, { signal: AbortSignal.abort() }).catch((reason) => reason);
  check(error.name === "AbortError" && error instanceof DOMException, String(error));
  const controller = new AbortController();
  const first = cpu.compress(bytes);
  let isFirstDone = false;
  first.then(() => (isFirstDone = true));
  const second = cpu.compress(bytes, { signal: controller.signal }).catch((reason) => reason);
  controller.abort("enough");
  check((await second) === "enough" && !isFirstDone, "a call that waits rejects at once");
  same(await cpu.decompress(await first), bytes, "the call before it");
  await cpu.dispose();
}

async function yieldsToTheEventLoop() {
  const cpu = await createCompressor({ backend: "cpu" });
  await soon("the thread was taken", STOP_MS, () => longestWithoutThread(cpu));
  await cpu.dispose();
}

async function longestWithoutThread(cpu) {
  let longest = 0;
  let last = performance.now();
  const timer = setInterval(() => {
    longest = Math.max(longest, performance.now() - last);
    last = performance.now();
  }, 1);
  await later(10);
  const bytes = kinds.memory(48 * MIB);
  last = performance.now();
  longest = 0;
  await cpu.decompress(await cpu.compress(bytes));
  clearInterval(timer);
  check(longest > 0, "the timer did not run");
  return longest;
}

async function transfersInputOnlyIfAsked() {
  const cpu = await createCompressor({ backend: "cpu" });
  const whole = kinds.text(3 * MIB);
  const copy = whole.slice();
  const frame = await cpu.compress(whole);
  same(whole, copy, "the input after compress");
  const part = whole.subarray(1000, 2_000_000);
  const moved = cpu.compress(part, { transfer: true });
  check(part.length === 0 && whole.length === 0, "transfer detaches at once");
  same(await cpu.decompress(await moved), copy.subarray(1000, 2_000_000), "what was transferred");
  const again = frame.slice();
  same(await cpu.decompress(again, { transfer: true }), copy, "a frame that was transferred");
  check(again.length === 0, "transfer detaches the frame");
  const memory = new WebAssembly.Memory({ initial: 1 });
  await rejects(cpu.compress(new Uint8Array(memory.buffer), { transfer: true }), "INVALID_ARGUMENT", PagepressError);
  const shrinking = copy.slice();
  // By the first report all input has been sent to workers.
  const alone = await createCompressor({ backend: "cpu", workers: 0 });
  const call = alone.compress(shrinking, { onProgress: () => shrinking.length && structuredClone(0, { transfer: [shrinking.buffer] }) });
  await rejects(call, "INVALID_ARGUMENT", PagepressError);
  await alone.dispose();
  await rejects(cpu.compress(copy, { maxOutputSize: 1000 }), "OUTPUT_LIMIT", PagepressError);
  await cpu.dispose();
}

/** Frames that exceed `maxOutputSize` are not compressed to their end. */
async function stopsAtTheOutputLimit() {
  const bytes = kinds.random(16 * MIB);
  for (const workers of [0, 2]) {
    const cpu = await createCompressor({ backend: "cpu", workers });
    let processed = 0;
    const onProgress = ({ bytesIn }) => (processed = bytesIn);
    await rejects(cpu.compress(bytes, { maxOutputSize: 1000, onProgress }), "OUTPUT_LIMIT", PagepressError);
    check(processed < bytes.length / 2, `${processed} bytes were compressed with ${workers} workers`);
    await cpu.dispose();
  }
}

async function recognisesBlocks() {
  const cpu = await createCompressor({ backend: "cpu" });
  const bytes = kinds.text(50_000);
  const frame = await cpu.compress(bytes);
  const view = new DataView(frame.buffer, frame.byteOffset);
  // Magic number, flags, block size, content size and checksum precede the size of the block.
  const at = 4 + 2 + 8 + 1;
  const block = frame.slice(at + 4, at + 4 + view.getUint32(at, true));
  const prefixed = new Uint8Array(4 + block.length);
  new DataView(prefixed.buffer).setUint32(0, bytes.length, true);
  prefixed.set(block, 4);
  for (const [input, format] of [[block, "block"], [prefixed, "size-prefixed"]]) {
    const error = await rejects(cpu.decompress(input), "NOT_LZ4", PagepressError);
    check(error.message.includes(`"${format}"`) && error.message.includes("50000"), error.message);
    const sync = await throws(() => decompressSync(input), "NOT_LZ4");
    check(sync.message === error.message, sync.message);
    same(await cpu.decompress(input, { format }), bytes, format);
    check(cpu.lastTiming.reason.includes("block"), cpu.lastTiming.reason);
    same(decompressSync(input, { format }), bytes, `${format}, synchronously`);
    await rejects(cpu.decompress(input, { format, maxOutputSize: 49_999 }), "OUTPUT_LIMIT", PagepressError);
  }
  await rejects(cpu.decompress(block.subarray(0, 100), { format: "block" }), "CORRUPT_PAGE", PagepressError);
  const gzip = new Uint8Array([0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
  const error = await rejects(cpu.decompress(gzip), "NOT_LZ4", PagepressError);
  check(error.message.includes("gzip"), error.message);
  await cpu.dispose();
}

async function writesFormats() {
  const cpu = await createCompressor({ backend: "cpu" });
  for (const bytes of [new Uint8Array(), kinds.text(50_000), kinds.text(600_000)]) {
    for (const format of ["frame", "block", "size-prefixed", "hadoop"]) {
      const what = `${format} of ${bytes.length}`;
      const packed = await cpu.compress(bytes, { format });
      same(compressSync(bytes, { format }), packed, `${what}, synchronously`);
      same(await cpu.decompress(packed, { format }), bytes, what);
      same(decompressSync(packed, { format }), bytes, `${what}, synchronously`);
      const maxOutputSize = packed.length - 1;
      await rejects(cpu.compress(bytes, { format, maxOutputSize }), "OUTPUT_LIMIT", PagepressError);
    }
  }
  const bytes = new Uint8Array(5 * MIB);
  for (const option of [{ blockSize: 4096 }, { contentChecksum: false }, { blockChecksums: true }, { index: true }]) {
    const error = await throws(() => compressSync(bytes, { format: "hadoop", ...option }), "INVALID_ARGUMENT");
    check(error.message.includes(Object.keys(option)[0]), error.message);
    await rejects(cpu.compress(bytes, { format: "block", ...option }), "INVALID_ARGUMENT", PagepressError);
  }
  await throws(() => compressSync(bytes, { format: "block", level: "fast" }), "INVALID_ARGUMENT");
  await throws(() => compressSync(bytes, { format: "zip" }), "INVALID_ARGUMENT");
  await cpu.dispose();
}

async function decompressesInto() {
  const cpu = await createCompressor({ backend: "cpu" });
  for (const [length, format] of [[50_000, "frame"], [3 * MIB, "frame"], [50_000, "block"], [600_000, "hadoop"]]) {
    const bytes = kinds.text(length);
    const packed = await cpu.compress(bytes, { format });
    const calls = [(options) => cpu.decompress(packed, options), async (options) => decompressSync(packed, options)];
    for (const call of calls) {
      const into = new Uint8Array(length + 100).subarray(10);
      const found = await call({ format, into });
      check(found.buffer === into.buffer && found.byteOffset === 10, `${format}: another place`);
      same(found, bytes, `${format} of ${length}`);
      check(into.subarray(length).every((byte) => byte === 0), "more was written");
      const error = await rejects(call({ format, into: into.subarray(0, length - 1) }), "OUTPUT_LIMIT", PagepressError);
      check(error.message.includes(`${length}`) && error.message.includes(`${length - 1} bytes`), error.message);
      await rejects(call({ format, into, maxOutputSize: length - 1 }), "OUTPUT_LIMIT", PagepressError);
      await rejects(call({ format, into: "text" }), "INVALID_ARGUMENT", PagepressError);
      await rejects(call({ format, into: new Uint8Array(packed.buffer) }), "INVALID_ARGUMENT", PagepressError);
    }
  }
  await cpu.dispose();
}

/** With `deterministic` the level `"auto"` is `"fast"`, also on the CPU, where it otherwise is `"sequential"`. */
async function writesTheSameBytesOnEveryEngine() {
  const bytes = mixed(65536, 2);
  for (const workers of [0, 2]) {
    const options = { backend: "cpu", workers };
    const [plain, deterministic] = [await createCompressor(options), await createCompressor({ ...options, deterministic: true })];
    const stream = (given) => collect(source(bytes).pipeThrough(new Lz4CompressionStream({ contentSize: bytes.length, ...given })));
    const packed = async (pages) => (await pages).packed;
    for (const [name, call] of [
      ["frames", (compressor, level) => compressor.compress(bytes, level)],
      ["blocks", (compressor, level) => compressor.compress(bytes, { format: "block", ...level })],
      ["pages", (compressor, level) => packed(compressor.compressPages(bytes, level))],
      ["streams", (compressor, level) => stream({ compressor, ...level })],
    ]) {
      const what = `${name}, ${workers} workers`;
      const fast = await call(plain, { level: "fast" });
      const sequential = await call(plain, {});
      check(fast.length !== sequential.length, `${what}: both levels have the same bytes`);
      for (const level of [{}, { level: "auto" }]) same(await call(deterministic, level), fast, `${what}, ${JSON.stringify(level)}`);
      same(await call(deterministic, { level: "sequential" }), sequential, `${what}, another level`);
    }
    const fast = await plain.compress(bytes, { level: "fast" });
    for (const given of [options, { compressor: plain }]) same(await stream({ ...given, deterministic: true }), fast, "streams' own option");
    for (const compressor of [plain, deterministic]) await compressor.dispose();
  }
}

/** Replaces `requestAdapter` of this page while `work` runs. */
async function withAdapters(requestAdapter, work) {
  const { gpu } = navigator;
  gpu.requestAdapter = requestAdapter;
  try {
    await work();
  } finally {
    delete gpu.requestAdapter;
  }
}

async function requestsAnAdapterAgain() {
  const adapter = { info: { vendor: "test", architecture: "swiftshader" }, limits: {}, features: [] };
  for (const [given, reason] of [
    [[adapter], "software adapter"],
    [[null, adapter], "software adapter"],
    [[null, null, adapter], "software adapter"],
    [[null, null, null], "requestAdapter() gives no adapter"],
  ]) {
    let asked = 0;
    await withAdapters(async () => given[asked++] ?? null, async () => {
      const auto = await createCompressor();
      const { engine, rejected } = auto.backend;
      await auto.dispose();
      check(engine === "cpu" && rejected[0]?.reason === reason, `${given.length} requests: ${JSON.stringify(rejected)}`);
      check(asked === given.length, `${asked} requests for an adapter instead of ${given.length}`);
    });
  }
}

export const cases = [
  ["synchronous calls need init", needsInitForSync],
  ["module-level calls share one engine", worksAtModuleLevel],
  ["progress increases to the total", reportsProgress],
  ["an abort stops the work soon", stopsInTime],
  ["an abort removes a waiting call", stopsBeforeItsTurn],
  ["the calling thread stays responsive", yieldsToTheEventLoop],
  ["input is detached only with transfer", transfersInputOnlyIfAsked],
  ["the output limit stops the work", stopsAtTheOutputLimit],
  ["block formats are recognised", recognisesBlocks],
  ["every format is written and read", writesFormats],
  ["decompression writes to a given array", decompressesInto],
  ["deterministic makes bytes independent of the engine", writesTheSameBytesOnEveryEngine],
  ["a page without an adapter requests one again, once", requestsAnAdapterAgain],
];
