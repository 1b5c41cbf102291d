// Tests dictionaries: of all calls, on a GPU and on the CPU, on workers and in place; and their training.
import { compressSync, createCompressor, decompressSync, Lz4CompressionStream, Lz4DecompressionStream, moduleWith, openFrame, PagepressError, timingOf } from "/dist/internals.js";
import { createDictionary, trainDictionary } from "/dist/dictionary.js";
import { contentOf } from "./buffers.js";
import { check, rejects, same } from "./check.js";
import { join, mixed } from "./data.js";
import { startWorker } from "./engines.js";
import { collect, source } from "./pipes.js";

const LEVELS = ["fast", "high", "sequential"];

const text = (string) => new TextEncoder().encode(string);
const record = (i) => text(JSON.stringify({ id: i, name: `user ${i % 211}`, roles: ["reader"], address: { city: `city ${i % 37}`, street: "Main Street" } }));
const records = (n) => Array.from({ length: n }, (_, i) => record((i * 7919) % 100_003));

/** Fails unless `work` throws a `PagepressError` with this code. */
const throws = (work, code) => rejects(Promise.resolve().then(work), code, PagepressError);

/** Pages of records and of all kinds, with a short last page. */
const content = (pageSize) => join([...records(600), mixed(pageSize, 2), record(1).subarray(0, 77)]);

/** Returns dictionaries: a trained one, one of all kinds of data, a short one, one without bytes. */
async function dictionaries() {
  const trained = await trainDictionary(records(400), { size: 4096, workers: 0 });
  const all = [trained, mixed(4096, 3), text("address"), new Uint8Array()];
  return Promise.all(all.map((bytes) => createDictionary(bytes)));
}

/** Compresses on both compressors, checks that the bytes are equal, and that each decompresses what the other wrote. */
async function agree(gpu, cpu) {
  for (const [i, dictionary] of (await dictionaries()).entries()) {
    // Kernels for other page sizes compile for seconds, and those of level "high" need as long to run large pages.
    for (const pageSize of i === 0 ? [4096, 65_536] : [4096]) {
      const bytes = content(pageSize);
      for (const level of pageSize === 4096 ? ["fast", "high"] : ["fast"]) {
        const name = `${dictionary.byteLength} ${pageSize} ${level}`;
        const options = { dictionary, level, pageSize };
        const [pages, expected] = await Promise.all([gpu, cpu].map((on) => on.compressPages(bytes, options)));
        same(pages.packed, expected.packed, `pages, ${name}`);
        same(pages.table, expected.table, `table, ${name}`);
        check(pages.dictionaryId === dictionary.id && expected.dictionaryId === dictionary.id, "id of the pages");
        check(timingOf(pages).engine === "webgpu", `pages, ${name} on ${timingOf(pages).engine}`);
        for (const on of [gpu, cpu]) same(await on.decompressPages(pages, { dictionary }), bytes, `pages back, ${name}`);
        const frameOptions = { dictionary, level, blockSize: pageSize, blockChecksums: pageSize === 4096 };
        const [frame, expectedFrame] = await Promise.all([gpu, cpu].map((on) => on.compress(bytes, frameOptions)));
        same(frame, expectedFrame, `frame, ${name}`);
        check(timingOf(frame).engine === "webgpu", `frame, ${name} on ${timingOf(frame).engine}`);
        for (const on of [gpu, cpu]) same(await on.decompress(frame, { dictionary }), bytes, `frame back, ${name}`);
      }
    }
  }
}

async function agreesWithTheCpu() {
  const gpu = await createCompressor({ backend: "webgpu", allowSoftware: true });
  const cpu = await createCompressor({ backend: "cpu", workers: 0 });
  await agree(gpu, cpu);
  await gpu.dispose();
  await cpu.dispose();
}

async function staysOnTheGpu() {
  const gpu = await createCompressor({ backend: "webgpu", allowSoftware: true });
  const [dictionary, other] = await dictionaries();
  const bytes = content(4096);
  const aligned = bytes.subarray(0, bytes.length & ~3);
  const buffer = gpu.device.createBuffer({ size: aligned.length, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST });
  gpu.device.queue.writeBuffer(buffer, 0, aligned);
  const resident = await gpu.compressResident(buffer, { dictionary, level: "fast" });
  const pages = await resident.read();
  const expected = await gpu.compressPages(aligned, { dictionary, level: "fast" });
  same(pages.packed, expected.packed, "blocks");
  check(resident.dictionaryId === dictionary.id && pages.dictionaryId === dictionary.id, "id");
  const frame = await gpu.compress(aligned, { dictionary, level: "fast" });
  for (const input of [resident, pages, frame]) {
    const made = await gpu.decompressResident(input, { dictionary });
    same(await contentOf(gpu.device, made.buffer, aligned.length), aligned, "content");
    made.buffer.destroy();
    await rejects(gpu.decompressResident(input), "DICTIONARY_NEEDED", PagepressError);
    await rejects(gpu.decompressResident(input, { dictionary: other }), "WRONG_DICTIONARY", PagepressError);
  }
  await gpu.dispose();
}

async function roundTripsAllCalls() {
  const [dictionary] = await dictionaries();
  const small = record(55_555);
  for (const level of LEVELS) {
    for (const format of ["frame", "block", "size-prefixed"]) {
      // Synchronous calls use the module of the dictionary: they need no init().
      const made = compressSync(small, { dictionary, level, format, ...(format === "frame" ? { contentChecksum: false } : {}) });
      check(made.length < 0.65 * small.length, `${format} ${level}: ${made.length} of ${small.length} bytes`);
      same(decompressSync(made, { dictionary, format }), small, `${format} ${level}`);
      const into = new Uint8Array(small.length + 5);
      same(decompressSync(made, { dictionary, format, into }), small, `${format} ${level}, into`);
    }
  }
  for (const workers of [0, 3]) {
    const cpu = await createCompressor({ backend: "cpu", workers });
    const bytes = join([content(4096), mixed(65_536, 6)]);
    for (const level of LEVELS) {
      const frame = await cpu.compress(bytes, { dictionary, level, index: true, blockSize: 16_384 });
      same(compressSync(bytes, { dictionary, level, index: true, blockSize: 16_384 }), frame, `the frame of compressSync, ${level}`);
      same(await cpu.decompress(frame, { dictionary }), bytes, `frame ${level}`);
      const file = await openFrame(frame, { dictionary });
      check(file.hasIndex, "index");
      same(await file.read(70_000, 5000), bytes.subarray(70_000, 75_000), `part ${level}`);
      const packed = source(bytes).pipeThrough(new Lz4CompressionStream({ dictionary, level, compressor: cpu, blockSize: 16_384 }));
      same(await collect(packed.pipeThrough(new Lz4DecompressionStream({ dictionary, compressor: cpu }))), bytes, `stream ${level}`);
      const pages = await cpu.compressPages(bytes, { dictionary, level });
      same(await cpu.decompressPages(pages, { dictionary }), bytes, `pages ${level}`);
    }
    await cpu.dispose();
  }
}

/** Tests that work is shared among workers, and that each dictionary is the right one there. */
async function sharesWork() {
  const cpu = await createCompressor({ backend: "cpu", workers: 4 });
  const alone = await createCompressor({ backend: "cpu", workers: 0 });
  const bytes = mixed(65_536, 30);
  const all = [...(await dictionaries()), undefined];
  let nShared = 0;
  for (let round = 0; round < 2; round += 1) {
    for (const dictionary of all) {
      const options = { dictionary, level: "sequential" };
      const frame = await cpu.compress(bytes, options);
      nShared += timingOf(frame).workers === undefined ? 0 : 1;
      same(frame, await alone.compress(bytes, options), "the frame of one thread");
      same(await cpu.decompress(frame, { dictionary }), bytes, "content");
      const pages = await cpu.compressPages(bytes, options);
      same(pages.packed, (await alone.compressPages(bytes, options)).packed, "the pages of one thread");
      same(await cpu.decompressPages(pages, { dictionary }), bytes, "pages");
    }
  }
  check(nShared > 0, "no call was shared");
  await cpu.dispose();
  await alone.dispose();
}

async function reportsErrors() {
  const [dictionary, other, , empty] = await dictionaries();
  const cpu = await createCompressor({ backend: "cpu", workers: 0 });
  const small = record(3);
  const frame = await cpu.compress(small, { dictionary });
  const error = await rejects(cpu.decompress(frame), "DICTIONARY_NEEDED", PagepressError);
  check(error.message.includes(dictionary.id.toString(16)), error.message);
  const wrong = await rejects(cpu.decompress(frame, { dictionary: other }), "WRONG_DICTIONARY", PagepressError);
  for (const id of [dictionary.id, other.id]) check(wrong.message.includes(id.toString(16)), wrong.message);
  await throws(() => decompressSync(frame, { dictionary: empty }), "WRONG_DICTIONARY");
  await rejects(openFrame(frame), "DICTIONARY_NEEDED", PagepressError);
  await rejects(openFrame(frame, { dictionary: other }), "WRONG_DICTIONARY", PagepressError);
  const stream = source(frame).pipeThrough(new Lz4DecompressionStream({ compressor: cpu }));
  await rejects(collect(stream), "DICTIONARY_NEEDED", PagepressError);
  const pages = await cpu.compressPages(small, { dictionary });
  const needed = await rejects(cpu.decompressPages(pages), "DICTIONARY_NEEDED", PagepressError);
  check(needed.message === error.message, needed.message);
  const wrongPages = await rejects(cpu.checkPages(pages, { dictionary: other }), "WRONG_DICTIONARY", PagepressError);
  check(wrongPages.message === wrong.message, wrongPages.message);
  // Pages without a dictionary decompress with any.
  const plain = await cpu.compressPages(small);
  check(plain.dictionaryId === 0, "no dictionary");
  same(await cpu.decompressPages(plain, { dictionary }), small, "plain pages");
  // Without an id, a wrong dictionary is not noticed, but it does no harm.
  const unnamed = await createDictionary(text("no id"), { id: 0 });
  const unnamedFrame = await cpu.compress(small, { dictionary: unnamed });
  same(await cpu.decompress(unnamedFrame, { dictionary: unnamed }), small, "without an id");
  for (const format of ["frame", "block"]) {
    const garbage = Uint8Array.from({ length: 300 }, (_, i) => (i * 37) & 0xff);
    await cpu.decompress(garbage, { format, dictionary }).catch((e) => check(e instanceof PagepressError, `${e}`));
  }
  await rejects(cpu.compress(small, { dictionary, format: "hadoop" }), "INVALID_ARGUMENT", PagepressError);
  for (const value of [new Uint8Array(5), "text", 7, {}, null]) {
    await rejects(cpu.compress(small, { dictionary: value }), "INVALID_ARGUMENT", PagepressError);
    await rejects(cpu.decompressPages(plain, { dictionary: value }), "INVALID_ARGUMENT", PagepressError);
    await throws(() => compressSync(small, { dictionary: value }), "INVALID_ARGUMENT");
    await throws(() => new Lz4CompressionStream({ dictionary: value }), "INVALID_ARGUMENT");
  }
  await rejects(createDictionary("text"), "INVALID_ARGUMENT", PagepressError);
  await rejects(createDictionary(text("text"), { id: -1 }), "INVALID_ARGUMENT", PagepressError);
  await rejects(createDictionary(text("text"), { name: "text" }), "INVALID_ARGUMENT", PagepressError);
  await cpu.dispose();
}

async function keepsTheEnd() {
  const long = join([mixed(65_536, 3), text("the end")]);
  const whole = await createDictionary(long);
  check(whole.byteLength === 65_536, `${whole.byteLength} bytes`);
  const end = await createDictionary(long.slice(-65_536), { id: whole.id });
  const bytes = long.slice(-20_000);
  same(compressSync(bytes, { dictionary: whole }), compressSync(bytes, { dictionary: end }), "the frame of its end");
  check(compressSync(bytes, { dictionary: whole }).length < 400, "the content is in the dictionary");
}

/** Tests that a dictionary works again after a panic has replaced the instance of its module. */
async function survivesPanics() {
  const [dictionary, other] = await dictionaries();
  const small = record(77);
  const before = [dictionary, other].map((one) => compressSync(small, { dictionary: one }));
  await throws(() => moduleWith({ dictionary }).run(() => { throw new WebAssembly.RuntimeError("unreachable"); }), "INTERNAL");
  for (const [i, one] of [dictionary, other].entries()) {
    same(compressSync(small, { dictionary: one }), before[i], "the same frame");
    same(decompressSync(before[i], { dictionary: one }), small, "content");
  }
}

async function trains() {
  const samples = records(2000);
  const bytes = await trainDictionary(samples, { size: 2000 });
  check(bytes.length === 2000, `${bytes.length} bytes`);
  same(await trainDictionary(samples, { size: 2000, workers: 0 }), bytes, "the same without workers");
  same(await trainDictionary(samples.map(({ buffer }) => buffer).values(), { size: 2000 }), bytes, "the same from buffers and an iterator");
  const few = await trainDictionary(samples.slice(0, 3), { size: 60_000 });
  check(few.length === join(samples.slice(0, 3)).length, "all of few samples");
  for (const wrong of [undefined, 5, new Uint8Array(9), [], [new Uint8Array()], ["text"]]) {
    await rejects(trainDictionary(wrong), "INVALID_ARGUMENT", PagepressError);
  }
  for (const size of [0, 65_537, 1.5]) await rejects(trainDictionary(samples, { size }), "INVALID_ARGUMENT", PagepressError);
}

/** Training waits for a worker that starts slowly, during which it can be aborted; without workers, the calling thread trains. */
async function trainsOnWorkers() {
  const samples = records(2000);
  const expected = await trainDictionary(samples, { size: 2000, workers: 0 });
  let start = () => undefined;
  const starts = new Promise((resolve) => (start = resolve));
  const createWorker = async () => {
    await starts;
    return startWorker();
  };
  const controller = new AbortController();
  const aborted = trainDictionary(samples, { size: 2000, createWorker, signal: controller.signal }).catch((reason) => reason);
  const trained = trainDictionary(samples, { size: 2000, createWorker });
  let isTrained = false;
  trained.then(() => (isTrained = true));
  await new Promise((resolve) => setTimeout(resolve, 200));
  check(!isTrained, "the calling thread trained while a worker started");
  controller.abort("enough");
  check((await aborted) === "enough", "aborted");
  start();
  same(await trained, expected, "from a worker");
  const running = new AbortController();
  let nEnded = 0;
  const createWorkerThatAborts = () => {
    const worker = startWorker();
    const { postMessage, terminate } = worker;
    worker.postMessage = (message, transfer) => {
      postMessage.call(worker, message, transfer);
      if (message.call === "train") running.abort("enough");
    };
    worker.terminate = () => {
      nEnded += 1;
      terminate.call(worker);
    };
    return worker;
  };
  const stopped = trainDictionary(samples, { size: 2000, createWorker: createWorkerThatAborts, signal: running.signal });
  check((await stopped.catch((reason) => reason)) === "enough", "aborted while a worker trains");
  check(nEnded === 1, "the worker goes on with a training that was aborted");
  const refuse = () => Promise.reject(new Error("no workers today"));
  same(await trainDictionary(samples, { size: 2000, createWorker: refuse }), expected, "without workers");
}

export const cases = [
  ["round trips of all calls", roundTripsAllCalls],
  ["work is shared among workers", sharesWork],
  ["errors name the ids", reportsErrors],
  ["the last 65536 bytes count", keepsTheEnd],
  ["work after a panic", survivesPanics],
  ["training", trains],
  ["training on workers", trainsOnWorkers],
];

/** The case that workers with a GPU run too: the bytes do not depend on the scope. */
export const casesInWorkers = [["pages stay on the GPU", staysOnTheGpu]];

export const casesWithGpu = [["a GPU writes the bytes of the CPU", agreesWithTheCpu], ...casesInWorkers];
