// Tests arrays with false lengths, and arrays in shared memory that grows and changes during a call: every entry that
// accepts bytes reads the length once, and never returns memory of an earlier call.
import { strict as assert } from "node:assert";
import { Worker } from "node:worker_threads";
import { outcomeOf, pagepress, textOf } from "./check.mjs";

const { compressSync, createCompressor, decompressSync, Lz4CompressionStream, openFrame } = pagepress;

const content = textOf(70_000, 3);
/** Content of one call that no output of another call may contain. */
const SECRET = new TextEncoder().encode("secret of an earlier call;");

/** Returns an array of `values` whose properties are overridden by the getters in `shown`. */
function withFalseProperties(Type, values, shown) {
  const FalseArray = class extends Type {};
  for (const [name, get] of Object.entries(shown)) Object.defineProperty(FalseArray.prototype, name, { get });
  return new FalseArray(values);
}

/** The false arrays: lengths that are too long, too short or change, and methods that return other memory. */
const falseProperties = {
  longer: { length: () => 200_000, byteLength: () => 200_000 },
  shorter: { length: () => 10, byteLength: () => 10 },
  endless: { length: () => 2 ** 32, byteLength: () => 2 ** 32 },
  "not a number": { length: () => "many", byteLength: () => Number.NaN },
  changing: { length: ((n) => () => (n += 1_000))(0), byteLength: ((n) => () => (n += 4_000))(0) },
  "another buffer": { buffer: () => new ArrayBuffer(4), byteOffset: () => 2 ** 20 },
  "another array": { subarray: () => () => new Uint8Array(2 ** 20), slice: () => () => new Uint8Array(2 ** 20) },
  "another species": { constructor: () => ({ [Symbol.species]: Float64Array }) },
};

const holdsSecret = (bytes) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(SECRET);

/** Fills freed memory of the module, which later calls reuse, with the secret. */
function leaveSecret() {
  const secrets = new Uint8Array(400_000);
  for (let at = 0; at < secrets.length; at += SECRET.length) secrets.set(SECRET.subarray(0, secrets.length - at), at);
  decompressSync(compressSync(secrets));
}

async function streamed(bytes, compressor) {
  const stream = new Lz4CompressionStream({ compressor });
  const writer = stream.writable.getWriter();
  writer.write(bytes).then(() => writer.close()).catch(() => undefined);
  writer.closed.catch(() => undefined);
  const parts = [];
  const reader = stream.readable.getReader();
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) parts.push(value);
  return Buffer.concat(parts);
}

/** Returns round trips through every entry; `view` creates the array that is passed to an entry. */
function entries(compressor) {
  const frame = compressSync(content);
  return {
    compress: async (view) => decompressSync(await compressor.compress(view(content))),
    compressSync: async (view) => decompressSync(compressSync(view(content))),
    decompress: (view) => compressor.decompress(view(frame)),
    decompressSync: async (view) => decompressSync(view(frame)),
    openFrame: async (view) => (await openFrame(view(frame))).read(0, content.length),
    stream: async (view) => decompressSync(await streamed(view(content), compressor)),
    compressPages: async (view) => compressor.decompressPages(await compressor.compressPages(view(content))),
    decompressPages: async (view) => {
      const pages = await compressor.compressPages(content);
      return compressor.decompressPages({ ...pages, packed: view(pages.packed), table: view(pages.table) });
    },
    checkPages: async (view) => {
      const pages = await compressor.compressPages(content);
      return (await compressor.checkPages({ ...pages, packed: view(pages.packed), table: view(pages.table) })).bytes;
    },
  };
}

async function ignoresFalseLengths() {
  const compressor = await createCompressor({ backend: "cpu", workers: 0 });
  for (const [kind, shown] of Object.entries(falseProperties)) {
    for (const [entry, work] of Object.entries(entries(compressor))) {
      leaveSecret();
      const made = await work((values) => withFalseProperties(values.constructor, values, shown));
      assert.ok(!holdsSecret(made), `${entry}, ${kind}: memory of an earlier call`);
      assert.ok(Buffer.compare(made, content) === 0, `${entry}, ${kind}: other content`);
    }
  }
  await compressor.dispose();
}

/** Tests arrays in shared memory that another thread grows and overwrites during the calls. */
async function takesSnapshots() {
  const compressor = await createCompressor({ backend: "cpu", workers: 0 });
  const memory = new SharedArrayBuffer(65536, { maxByteLength: 2 ** 21 });
  const source = `
    const { workerData } = require("node:worker_threads");
    const bytes = new Uint8Array(workerData);
    for (let i = 0; ; i += 1) {
      bytes[i % bytes.length] = i;
      if (i % 512 === 0 && workerData.byteLength < workerData.maxByteLength) workerData.grow(workerData.byteLength + 4096);
    }`;
  const worker = new Worker(source, { eval: true, workerData: memory });
  await new Promise((resolve) => worker.once("online", resolve));
  const growing = new Uint8Array(memory);
  try {
    for (let i = 0; i < 20; i += 1) {
      const least = growing.length;
      const frames = [compressSync(growing), await compressor.compress(growing), await streamed(growing, compressor)];
      for (const frame of frames) assert.ok(decompressSync(frame).length >= least, "shorter than it was");
      const pages = await compressor.compressPages(growing);
      assert.equal((await compressor.decompressPages(pages)).length, pages.byteLength);
      for (const format of ["frame", "block", "size-prefixed", "hadoop"]) {
        await outcomeOf(() => compressor.decompress(growing, { format, maxOutputSize: 2 ** 22 }));
      }
      await outcomeOf(async () => (await openFrame(growing)).contentLength());
      const table = new Uint32Array(memory, 0, 2 * Math.ceil(2 ** 20 / 4096));
      await outcomeOf(() => compressor.checkPages({ packed: growing, table, pageSize: 4096, byteLength: 2 ** 20 }));
    }
  } finally {
    await worker.terminate();
  }
  await compressor.dispose();
}

/** Tests target arrays of decompression: shared, resizable, with false lengths, and shrunk before the call starts. */
async function writesWithinTargets() {
  const compressor = await createCompressor({ backend: "cpu", workers: 0 });
  const frame = compressSync(content);
  const shared = new Uint8Array(new SharedArrayBuffer(content.length + 9), 9);
  const resizable = new Uint8Array(new ArrayBuffer(content.length, { maxByteLength: 2 * content.length }));
  const liars = Object.values(falseProperties).map((shown) => withFalseProperties(Uint8Array, content.length, shown));
  for (const into of [shared, resizable, ...liars]) {
    for (const found of [decompressSync(frame, { into }), await compressor.decompress(frame, { into })]) {
      assert.ok(Buffer.compare(found, content) === 0);
      assert.equal(found.length, content.length);
    }
  }
  for (const shrink of [(bytes) => bytes.buffer.resize(1000), (bytes) => structuredClone(0, { transfer: [bytes.buffer] })]) {
    const into = new Uint8Array(new ArrayBuffer(content.length, { maxByteLength: content.length }));
    const first = compressor.compress(content);
    const late = outcomeOf(() => compressor.decompress(frame, { into }));
    shrink(into);
    await first;
    assert.equal((await late).code, "OUTPUT_LIMIT");
  }
  await compressor.dispose();
}

/** Input that is shrunk or detached before the call starts is an error, never truncated content. */
async function rejectsShrunkInput() {
  const compressor = await createCompressor({ backend: "cpu", workers: 0 });
  for (const shrink of [(bytes) => bytes.buffer.resize(1000), (bytes) => structuredClone(0, { transfer: [bytes.buffer] })]) {
    for (const call of [(input) => compressor.compress(input), (input) => compressor.compressPages(input)]) {
      const bytes = new Uint8Array(new ArrayBuffer(content.length, { maxByteLength: content.length }), 0, content.length);
      const first = compressor.compress(content);
      const late = outcomeOf(() => call(bytes));
      shrink(bytes);
      await first;
      assert.equal((await late).code, "INVALID_ARGUMENT");
    }
  }
  await compressor.dispose();
}

export const cases = [
  ["arrays with false lengths", ignoresFalseLengths],
  ["shared memory that grows and changes", takesSnapshots],
  ["input that shrinks before its call starts", rejectsShrunkInput],
  ["target arrays of decompression", writesWithinTargets],
];
