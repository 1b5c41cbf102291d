// Tests the package on the CPU, without a GPU or with backend `"cpu"`.
import { compressSync, countIdenticalPages, createCompressor, PagepressError, timingOf } from "/dist/index.js";
import { check, rejects, same } from "./check.js";
import { kinds, mixed } from "./data.js";

async function fallsBack() {
  const error = await rejects(createCompressor({ backend: "webgpu" }), "BACKEND_UNAVAILABLE", PagepressError);
  check(error.message.includes("no adapter"), error.message);
  const auto = await createCompressor();
  check(auto.backend.engine === "cpu", JSON.stringify(auto.backend));
  check(auto.backend.rejected[0]?.candidate === "webgpu", JSON.stringify(auto.backend));
  const bytes = mixed(65536, 4);
  const frame = await auto.compress(bytes);
  check(auto.lastTiming.engine === "cpu" && auto.lastTiming.kernelNs === null, JSON.stringify(auto.lastTiming));
  check(frame.length < bytes.length, "the frame is larger than its content");
  same(await auto.decompress(frame), bytes, "content");
  await auto.dispose();
}

async function reportsErrors() {
  const cpu = await createCompressor({ backend: "cpu" });
  const bytes = kinds.text(100_000);
  const frame = await cpu.compress(bytes, { blockChecksums: true });
  const expect = (work, code) => rejects(work, code, PagepressError);
  await expect(cpu.decompress(frame.subarray(0, 1000)), "TRUNCATED_FRAME");
  await expect(cpu.decompress(frame, { maxOutputSize: 99_999 }), "OUTPUT_LIMIT");
  check((await cpu.decompress(frame, { maxOutputSize: 100_000 })).length === 100_000, "the limit itself");
  await expect(cpu.decompress(bytes), "NOT_LZ4");
  const changed = frame.slice();
  changed[500] ^= 1;
  await expect(cpu.decompress(changed), "CHECKSUM_MISMATCH");
  const pages = await cpu.compressPages(bytes);
  const table = pages.table.slice();
  table[2] = 0x3fff_ffff;
  await expect(cpu.decompressPages({ ...pages, table }), "CORRUPT_PAGE");
  await expect(cpu.decompressPages({ ...pages, byteLength: 1 }), "INVALID_ARGUMENT");
  for (const options of [{ pageSize: 1000 }, { pageSize: -1 }, { pageSize: "4096" }, { level: "best" }, { into: "text" }, { into: bytes }]) {
    await expect(cpu.compressPages(bytes, options), "INVALID_ARGUMENT");
  }
  await expect(cpu.compress("text"), "INVALID_ARGUMENT");
  for (const value of [null, [1, 2], new Blob([bytes]), new Response("text"), { length: 3 }]) await expect(cpu.compress(value), "INVALID_ARGUMENT");
  for (const options of [{ blocksize: 4096 }, { checksum: true }]) await expect(cpu.compress(bytes, options), "INVALID_ARGUMENT");
  await expect(createCompressor({ backend: "cpu", threads: 2 }), "INVALID_ARGUMENT");
  const expected = await cpu.compress(bytes);
  same(await cpu.compress(bytes.buffer), expected, "an ArrayBuffer");
  same(await cpu.compress(new DataView(bytes.buffer)), expected, "a DataView");
  check(timingOf(expected).engine === "cpu" && timingOf({}) === undefined, "the timing of a result");
  await expect(cpu.compress(bytes, { blockSize: 100 }), "INVALID_ARGUMENT");
  await expect(createCompressor({ backend: "cuda" }), "INVALID_ARGUMENT");
  same(await cpu.decompress(frame), bytes, "content after errors");
  await cpu.dispose();
}

async function takesViews() {
  const cpu = await createCompressor({ backend: "cpu", level: "high" });
  const large = kinds.memory(50_000);
  const part = large.subarray(1001, 42_003);
  same(await cpu.decompress(await cpu.compress(part)), part, "a view");
  const high = await cpu.compressPages(part);
  const fast = await cpu.compressPages(part, { level: "fast" });
  check(high.ratio > fast.ratio, `high ${high.ratio}, fast ${fast.ratio}`);
  const empty = await cpu.decompress(await cpu.compress(new Uint8Array(0)));
  check(empty.length === 0, "nothing became something");
  await cpu.dispose();
}

/** Pages of all kinds, some of them twice; the last is shorter and has the fill of another. */
async function countsIdenticalPages() {
  const cpu = await createCompressor({ backend: "cpu" });
  for (const pageSize of [4096, 65_536]) {
    const [text, noise, fill] = [kinds.text(pageSize), kinds.random(pageSize), new Uint8Array(pageSize).fill(7)];
    const pages = [text, noise, fill, text, noise, noise, fill, kinds.memory(pageSize), fill.subarray(0, 800)];
    const content = new Uint8Array(await new Blob(pages).arrayBuffer());
    for (const level of ["fast", "high", "sequential"]) {
      const count = countIdenticalPages(await cpu.compressPages(content, { pageSize, level }));
      check(count === 4, `${count} identical pages of ${pageSize} bytes at ${level}`);
    }
  }
  check(countIdenticalPages(await cpu.compressPages(new Uint8Array(0))) === 0, "no pages");
  await cpu.dispose();
}

/** Large outputs of concurrent calls are assembled in shared memory, one after the other. */
async function returnsSeparateArrays() {
  const cpus = await Promise.all([0, 1].map(() => createCompressor({ backend: "cpu", workers: 0 })));
  const inputs = [kinds.memory(9_000_001), kinds.random(6_000_000), kinds.text(5_000_000), kinds.random(300_000), kinds.text(99_999)];
  const kindsOfFrames = [{ index: true }, {}, { blockSize: 4 << 20 }, { blockSize: 4096, index: true }, {}];
  const all = await Promise.all(inputs.map((bytes, i) => cpus[i % 2].compress(bytes, kindsOfFrames[i])));
  const stopped = new AbortController();
  const late = cpus[0].compress(inputs[0], { signal: stopped.signal, onProgress: () => stopped.abort() });
  check((await late.catch((error) => error)) === stopped.signal.reason, "not stopped");
  await rejects(cpus[1].compress(inputs[1], { maxOutputSize: 5_000_000 }), "OUTPUT_LIMIT", PagepressError);
  for (const [i, bytes] of inputs.entries()) {
    const frame = compressSync(bytes, kindsOfFrames[i]);
    same(frame, all[i], `frame ${i}, at once and in parts`);
    check(frame.buffer.byteLength === frame.length, `frame ${i} is a part of ${frame.buffer.byteLength} bytes`);
    same(await cpus[0].decompress(all[i]), bytes, `content ${i}`);
  }
  for (const cpu of cpus) await cpu.dispose();
}

export const cases = [
  ["errors have codes", reportsErrors],
  ["accepts views and keeps its level", takesViews],
  ["counts identical pages", countsIdenticalPages],
  ["returns separate arrays to concurrent callers", returnsSeparateArrays],
];

export const casesWithoutGpu = [["falls back to the CPU", fallsBack], ...cases];
