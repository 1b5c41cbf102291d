// Tests mutated frames, blocks in all formats, page tables and indexes: errors are typed, all readers agree, and memory does
// not grow. Run by `hostile.mjs` with `--expose-gc`. Arguments: the number of inputs, and the seed.
import { strict as assert } from "node:assert";
import { createDictionary } from "../../dist/dictionary.js";
import { checkMemory, memoryInUse, outcomeOf, pagepress, randomNumbers, textOf } from "./check.mjs";

const { compressSync, createCompressor, decompressSync, Lz4DecompressionStream, openFrame } = pagepress;
const [nInputs, seed = 1] = process.argv.slice(2).map(Number);
const LIMIT = 2 ** 20;

const next = randomNumbers(seed);
const one = (list) => list[next() % list.length];
const compressor = await createCompressor({ backend: "cpu", workers: 0 });

/** Returns content with text, noise and fills, of a few pages and a short one. */
function contentOf(length, i) {
  const content = textOf(length, i);
  const random = randomNumbers(i);
  for (let at = 0; at < length; at += 4096) {
    const kind = random() % 4;
    if (kind === 1) for (let j = at; j < Math.min(at + 4096, length); j += 1) content[j] = random();
    if (kind === 2) for (let j = at; j < Math.min(at + 4096, length); j += 1) content[j] = (j % 8) * 17;
  }
  return content;
}

function joined(...parts) {
  return new Uint8Array(Buffer.concat(parts));
}

const contents = [0, 1, 100, 5000, 20_000, 70_001].map(contentOf);
const skippable = Uint8Array.of(0x50, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3);
const frames = contents.flatMap((content) => [
  compressSync(content, { blockSize: 4096 }),
  compressSync(content, { blockChecksums: true, level: "high" }),
  compressSync(content, { contentChecksum: false, blockSize: 16384 }),
]);
/** Dictionaries, of which the second is not named by what it compresses. Each input is read with one of them, or with none. */
const dictionaries = [await createDictionary(textOf(30_000, 7)), await createDictionary(textOf(3000, 8), { id: 0 })];
let dictionary;
for (const used of dictionaries) {
  for (const content of contents) frames.push(compressSync(content, { dictionary: used, blockSize: 4096, level: "fast" }));
}
frames.push(joined(skippable, frames[6], skippable, frames[9]));
const indexed = [undefined, ...dictionaries].flatMap((used) =>
  contents.map((content) => compressSync(content, { dictionary: used, index: true, blockSize: 4096, contentChecksum: content.length % 2 === 0 })),
);

/** Returns the only block of a frame, and the size of the content. */
function blockOf(content) {
  const frame = compressSync(content, { contentChecksum: false });
  return frame.slice(19, frame.length - 4);
}
const blocks = contents.slice(1, 5).map(blockOf);
blocks.push(...contents.slice(1, 5).map((content) => compressSync(content, { dictionary: dictionaries[0], format: "block", level: "high" })));
const records = contents.slice(1, 5).map((content) => compressSync(content, { format: "hadoop" }));
const prefixed = contents.slice(1, 5).map((content) => {
  const size = new Uint8Array(Uint32Array.of(content.length).buffer);
  return joined(size, blockOf(content));
});
// A legacy frame: a magic number and blocks, each preceded by its size.
const legacyBlock = blocks[2];
frames.push(joined(Uint8Array.of(0x02, 0x21, 0x4c, 0x18), new Uint8Array(Uint32Array.of(legacyBlock.length).buffer), legacyBlock));

const pageBatches = [];
for (const content of contents) {
  for (const used of [undefined, ...dictionaries]) {
    for (const pageSize of [4096, 65536]) pageBatches.push(await compressor.compressPages(content, { pageSize, dictionary: used }));
  }
}

const INTERESTING = [0, 1, 0x7f, 0x80, 0xff, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 4096, 65536, 2 ** 22, 2 ** 30];

/**
 * Returns `bytes` with a few mutations: bits, bytes and words changed, pieces removed, doubled or moved, the end
 * truncated.
 */
function changed(bytes, others) {
  let made = bytes.slice();
  for (let n = 1 + (next() % 4); n > 0; n -= 1) {
    const at = made.length === 0 ? 0 : next() % made.length;
    const until = at + (next() % 64);
    const kind = next() % 8;
    if (kind <= 2 && made.length > 0) made[at] ^= 1 << next() % 8;
    else if (kind === 3 && made.length > 0) made[at] = next();
    else if (kind === 4 && at + 4 <= made.length) new DataView(made.buffer).setUint32(at, one(INTERESTING), true);
    else if (kind === 5) made = joined(made.subarray(0, at), made.subarray(until));
    else if (kind === 6) made = joined(made.subarray(0, until), made.subarray(at));
    else if (kind === 7 && next() % 2 === 0) made = made.slice(0, at);
    else {
      const other = one(others);
      made = joined(made.subarray(0, at), other.subarray(next() % (other.length + 1)).subarray(0, 200), made.subarray(at));
    }
  }
  return made;
}

async function streamed(bytes) {
  const stream = new Lz4DecompressionStream({ compressor, dictionary, maxOutputSize: LIMIT });
  const writer = stream.writable.getWriter();
  writer.closed.catch(() => undefined);
  writer.write(bytes).then(() => writer.close()).catch(() => undefined);
  return new Uint8Array(await new Response(stream.readable).arrayBuffer());
}

/** Checks that all readers agree: on the content, or on the code of the error. */
function agree(outcomes) {
  const [first, ...rest] = outcomes;
  for (const other of rest) {
    assert.equal(other.code, first.code);
    if (first.value) assert.ok(Buffer.compare(other.value, first.value) === 0, "other content");
  }
  if (first.value) assert.ok(first.value.length <= LIMIT, "more than the limit");
  return first;
}

async function tryFrame(bytes, isStreamed) {
  const options = { dictionary, maxOutputSize: LIMIT };
  const ways = [async () => decompressSync(bytes, options), () => compressor.decompress(bytes, options)];
  if (isStreamed) ways.push(() => streamed(bytes));
  return agree(await Promise.all(ways.map((way) => outcomeOf(way))));
}

async function tryIndexed(bytes) {
  const whole = await outcomeOf(async () => decompressSync(bytes, { dictionary, maxOutputSize: LIMIT }));
  const part = await outcomeOf(async () => (await openFrame(bytes, { dictionary })).read(0, LIMIT));
  if (whole.value && part.value) assert.ok(Buffer.compare(whole.value, part.value) === 0, "openFrame reads other content");
  await outcomeOf(async () => (await openFrame(bytes, { dictionary })).read(next() % 80_000, next() % 80_000));
  return whole;
}

async function tryBlock(bytes, format) {
  const options = { format, ...(format === "hadoop" ? {} : { dictionary }), maxOutputSize: LIMIT };
  return agree([await outcomeOf(async () => decompressSync(bytes, options)), await outcomeOf(() => compressor.decompress(bytes, options))]);
}

async function tryPages(batch) {
  const packed = next() % 2 === 0 ? changed(batch.packed, blocks) : batch.packed;
  const words = new Uint8Array(batch.table.buffer, batch.table.byteOffset, batch.table.byteLength);
  const bytes = changed(words, [words]);
  const isWhole = next() % 4 !== 0;
  const table = new Uint32Array(isWhole ? words.length / 4 : bytes.length >> 2);
  new Uint8Array(table.buffer).set(bytes.subarray(0, table.byteLength));
  const byteLength = next() % 8 === 0 ? one(INTERESTING) % LIMIT : batch.byteLength;
  const pages = { ...batch, packed, table, byteLength };
  const checked = await outcomeOf(() => compressor.checkPages(pages, { dictionary }));
  const strict = await outcomeOf(() => compressor.decompressPages(pages, { dictionary }));
  if (!checked.value) assert.equal(strict.code, checked.code);
  else assert.equal(strict.code === undefined, checked.value.status.every((status) => status === 0));
  return strict;
}

const tries = [
  (i) => tryFrame(changed(one(frames), frames), i % 4 === 0),
  () => tryIndexed(changed(one(indexed), indexed)),
  () => tryBlock(changed(one(blocks), blocks), "block"),
  () => tryBlock(changed(one(prefixed), prefixed), "size-prefixed"),
  () => tryBlock(changed(one(records), records), "hadoop"),
  () => tryPages(one(pageBatches)),
];

const counts = {};
let before;
const start = performance.now();
for (let i = 0; i < nInputs; i += 1) {
  // Memory is compared with that after the first inputs, which create the instances.
  if (i === Math.min(2000, nInputs >> 1)) before = await memoryInUse();
  dictionary = one([undefined, ...dictionaries]);
  try {
    const { code = "content" } = await tries[i % tries.length](i);
    counts[code] = (counts[code] ?? 0) + 1;
  } catch (error) {
    throw new Error(`input ${i} of seed ${seed}: ${error.stack}`, { cause: error });
  }
}
const after = await memoryInUse();
await compressor.dispose();
const seconds = Math.round((performance.now() - start) / 1000);
console.log(JSON.stringify({ nInputs, seed, seconds, ...checkMemory(before, after), ...counts }));
