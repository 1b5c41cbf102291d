// Tests the worker pool of the CPU: the same bytes and errors as without it, and a fallback where workers cannot start.
import { createCompressor, Lz4CompressionStream, PagepressError, Sharing } from "/dist/internals.js";
import { check, rejects, same } from "./check.js";
import { kinds, mixed } from "./data.js";
import { isWorthByMeasurement, shareAlways, startWorkers } from "./engines.js";
import { collect, source } from "./pipes.js";

shareAlways();

/** Runs `work` with a compressor with workers and with one without. */
async function both(work) {
  // With fewer than four workers decompression runs on the calling thread.
  const pool = await startWorkers(await createCompressor({ backend: "cpu", workers: 4 }));
  const alone = await createCompressor({ backend: "cpu", workers: 0 });
  try {
    await work(pool, alone);
  } finally {
    await pool.dispose();
    await alone.dispose();
  }
}

const isShared = (compressor) => compressor.lastTiming.workers === 4;

function writesFrames() {
  return both(async (pool, alone) => {
    const bytes = mixed(65536, 12);
    for (const [blockSize, level] of [[4096, "fast"], [65536, "high"], [100_000, "sequential"], [4 << 20, "fast"]]) {
      for (const [blockChecksums, index] of [[false, false], [true, false], [false, true], [true, true]]) {
        const options = { blockSize, level, blockChecksums, contentChecksum: !blockChecksums || index, index };
        const frame = await pool.compress(bytes, options);
        check(isShared(pool), `blocks of ${blockSize} were not shared`);
        same(frame, await alone.compress(bytes, options), `frame with blocks of ${blockSize}`);
        same(await pool.decompress(frame), bytes, `content of blocks of ${blockSize}`);
        check(isShared(pool) || index, `decompression of blocks of ${blockSize} was not shared`);
      }
    }
    check(alone.lastTiming.workers === undefined, "workers: 0 used workers");
  });
}

function writesPages() {
  return both(async (pool, alone) => {
    const bytes = mixed(65536, 6);
    for (const pageSize of [4096, 65536]) {
      const pages = await pool.compressPages(bytes, { pageSize });
      check(isShared(pool), "pages were not shared");
      const expected = await alone.compressPages(bytes, { pageSize });
      same(pages.packed, expected.packed, "packed");
      same(pages.table, expected.table, "table");
      check(pages.ratio === expected.ratio && pages.byteLength === expected.byteLength, "ratio, byteLength");
      same(await pool.decompressPages(pages), bytes, "pages");
      check(isShared(pool), "decompression was not shared");
    }
  });
}

function findsFaults() {
  return both(async (pool, alone) => {
    const bytes = mixed(65536, 6);
    const pages = await pool.compressPages(bytes);
    pages.packed.fill(0xff, 100_000, 100_400);
    pages.table[900] = 0x3fff_ffff;
    const [checked, expected] = [await pool.checkPages(pages), await alone.checkPages(pages)];
    same(checked.status, expected.status, "status");
    same(checked.bytes, expected.bytes, "bytes");
    const frame = await pool.compress(bytes);
    const changed = (at) => Uint8Array.from(frame, (byte, i) => (i === at ? byte ^ 1 : byte));
    const twice = new Uint8Array([...frame, ...frame]);
    const end = frame.length - 1;
    const broken = [frame.subarray(0, end >> 1), ...[6, 100_000, end >> 1, end].map(changed)];
    for (const [i, input] of broken.entries()) {
      const error = await alone.decompress(input).catch((reason) => reason);
      const { message } = await rejects(pool.decompress(input), error.code, PagepressError);
      check(message === error.message, `${i}: ${message}, alone ${error.message}`);
    }
    same(await pool.decompress(twice), await alone.decompress(twice), "two frames");
    await rejects(pool.decompress(frame, { maxOutputSize: bytes.length - 1 }), "OUTPUT_LIMIT", PagepressError);
    same(await pool.decompress(frame, { maxOutputSize: bytes.length }), bytes, "the limit itself");
    await rejects(pool.compress(bytes, { blockSize: 0 }), "INVALID_ARGUMENT", PagepressError);
    await rejects(pool.compressPages(bytes, { pageSize: 0 }), "INVALID_ARGUMENT", PagepressError);
  });
}

async function worksWithoutWorkers() {
  const bytes = kinds.text(1_000_000);
  const refuse = () => {
    throw new Error("no workers today");
  };
  const missing = () => new Worker("/dist/no-such-file.js", { type: "module" });
  const silent = () => new Worker("/tests/browser/suite/data.js", { type: "module" });
  // The last failure is detected after 10 s, so it is tested once.
  const isWindow = typeof document === "object";
  for (const createWorker of isWindow ? [refuse, missing, silent] : [refuse, missing]) {
    const cpu = await createCompressor({ backend: "cpu", workers: 2, createWorker });
    const start = performance.now();
    same(await cpu.decompress(await cpu.compress(bytes)), bytes, "content");
    check(cpu.lastTiming.workers === undefined, "workers that do not start did work");
    check(performance.now() - start < 60_000, "it took long to notice");
    await cpu.dispose();
  }
}

async function startsWorkersWhenNeeded() {
  let n = 0;
  const createWorker = () => {
    n += 1;
    return new Worker("/dist/worker.js", { type: "module" });
  };
  const cpu = await createCompressor({ backend: "cpu", workers: 3, createWorker });
  await cpu.compress(kinds.text(50_000));
  check(n === 0 && cpu.lastTiming.workers === undefined, `${n} workers for a small input`);
  await cpu.compress(kinds.memory(262_144));
  check(n === 2 && cpu.lastTiming.workers === undefined, `${n} workers for two jobs, which are done while they start`);
  await startWorkers(cpu);
  await cpu.compress(kinds.memory(5_000_000));
  check(n === 3 && cpu.lastTiming.workers === 3, `${n} workers for many jobs`);
  await cpu.decompress(await cpu.compress(kinds.memory(5_000_000)));
  check(cpu.lastTiming.workers === undefined, "three workers decompress");
  const last = cpu.compress(kinds.memory(5_000_000));
  const disposed = cpu.dispose();
  check((await last).length > 0, "the call before dispose");
  await disposed;
}

/** Concurrent compressors and streams share workers, and disposing of one keeps them for the others. */
async function sharesWorkers() {
  let n = 0;
  const createWorker = () => {
    n += 1;
    return new Worker("/dist/worker.js", { type: "module" });
  };
  const options = { backend: "cpu", workers: 2, createWorker };
  const bytes = kinds.memory(3_000_000);
  const [cpu, other] = [await createCompressor(options), await createCompressor({ ...options, workers: 1 })];
  await startWorkers(cpu);
  const expected = await cpu.compress(bytes, { contentChecksum: false });
  const left = other.compress(bytes).then(() => other.dispose());
  const files = [0, 1, 2, 3].map(async () => {
    const stream = new Lz4CompressionStream({ ...options, contentSize: bytes.length, contentChecksum: false });
    same(await collect(source(bytes).pipeThrough(stream)), expected, "a stream beside others");
  });
  await Promise.all([...files, left]);
  check(n === 2, `${n} workers for six`);
  same(await cpu.compress(bytes, { contentChecksum: false }), expected, "after the others");
  check(n === 2, `${n} workers after the others`);
  await cpu.dispose();
}

function decidesByMeasurement() {
  const MIB = 2 ** 20;
  const isWorth = (sharing, ...call) => isWorthByMeasurement.call(sharing, ...call);
  const slow = new Sharing(2);
  check(!isWorth(slow, "compress", 255 * 1024) && isWorth(slow, "compress", 64 * MIB), "before any measurement");
  for (let i = 0; i < 20; i += 1) {
    slow.noteInPlace("compress", MIB, 2.5);
    slow.noteShared("compress", MIB, 6);
  }
  check(!isWorth(slow, "compress", MIB) && isWorth(slow, "compress", 64 * MIB), "workers that answer late");
  for (let i = 0; i < 20; i += 1) {
    slow.noteInPlace("compress", 64 * MIB, 160);
    slow.noteShared("compress", 64 * MIB, 170);
  }
  check(!isWorth(slow, "compress", 64 * MIB), "workers that share one core");
  check(isWorth(slow, "compress pages", 64 * MIB), "another kind of call");
  for (let i = 0; i < 300; i += 1) slow.noteInPlace("compress", MIB, 2.5);
  check(isWorth(slow, "compress", 64 * MIB), "after a long time");
  const untimed = new Sharing(2);
  untimed.noteShared("compress", 16 * MIB, 36);
  check(!isWorth(untimed, "compress", 16 * MIB), "a call in place after the first shared one");
  untimed.noteInPlace("compress", 16 * MIB, 26);
  check(!isWorth(untimed, "compress", 16 * MIB), "one thread is faster");
  const quick = new Sharing(8);
  for (let i = 0; i < 20; i += 1) {
    quick.noteInPlace("compress", MIB, 2.5);
    quick.noteShared("compress", MIB, 0.6);
  }
  check(isWorth(quick, "compress", MIB) && !isWorth(quick, "compress", MIB / 4), "workers that answer at once");
  check(isWorth(new Sharing(1), "compress", 300_000), "the worker that was asked for");
}

export const cases = [
  ["calls are shared where that was faster", async () => decidesByMeasurement()],
  ["frames are the same", writesFrames],
  ["pages are the same", writesPages],
  ["errors are the same", findsFaults],
  ["works without workers", worksWithoutWorkers],
  ["starts workers when needed", startsWorkersWhenNeeded],
  ["are shared by all", sharesWorkers],
];
