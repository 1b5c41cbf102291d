// Tests snapshots of memories: what they store, restore and refuse.
import { createCompressor, decompress, PagepressError } from "/dist/index.js";
import { diff, openSnapshot, previousIdOf, restore, restoreLazily, snapshot } from "/dist/snapshot.js";
import { check, rejects, same } from "./check.js";
import { kinds } from "./data.js";

const PAGE = 4096;
const WASM_PAGE = 65536;

/** Returns memory with pages of every kind and a short last page. */
function image() {
  const parts = Object.values(kinds).map((kind) => kind(3 * PAGE + 500));
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + Math.ceil(part.length / PAGE) * PAGE, 100));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += Math.ceil(part.length / PAGE) * PAGE;
  }
  bytes.copyWithin(10 * PAGE, 20 * PAGE, 24 * PAGE);
  return bytes;
}

/** Changes one byte in every `step`th page. */
function change(bytes, step, value) {
  for (let at = 7; at < bytes.length; at += step * PAGE) bytes[at] = (bytes[at] + value) & 255;
}

async function restoresEveryKindOfPage(compressor) {
  const bytes = image();
  for (const pageSize of [4096, 16384, 65536]) {
    const first = await snapshot(bytes, { pageSize, compressor });
    check(first.byteLength === bytes.length && first.pageSize === pageSize && first.previousId === null, "properties");
    check(first.counts.pages === Math.ceil(bytes.length / pageSize), JSON.stringify(first.counts));
    same(await first.read(), bytes, `pages of ${pageSize}`);
    const into = new Uint8Array(bytes.length).fill(7);
    await restore(first, into);
    same(into, bytes, "restored");
    const file = await first.toFile();
    same(await decompress(file), bytes, "the file is an LZ4 file");
    const opened = await openSnapshot(new Blob([file]));
    check(opened.id === first.id && (await previousIdOf(file)) === null, "id");
    same(await opened.read(), bytes, "opened");
  }
}

async function storesOnlyChanges(compressor) {
  const bytes = image();
  const images = [bytes.slice()];
  const versions = [await snapshot(bytes, { compressor })];
  for (let i = 1; i <= 5; i += 1) {
    change(bytes, 9, i);
    images.push(bytes.slice());
    const version = await snapshot(bytes, { previous: versions.at(-1), compressor });
    check(version.previousId === versions.at(-1).id && version.chainLength === i + 1, "chain");
    const { pages, unchanged, stored } = version.counts;
    check(stored > 0 && stored <= Math.ceil(pages / 9) && unchanged >= pages - 2 * Math.ceil(pages / 9), JSON.stringify(version.counts));
    versions.push(version);
  }
  let opened;
  for (const [i, version] of versions.entries()) {
    same(await version.read(), images[i], `version ${i}`);
    const file = await version.toFile();
    if (i > 0) check(file.length < 1.1 * version.counts.storedBytes + 2000, `${file.length} bytes of ${version.counts.storedBytes}`);
    opened = await openSnapshot(file, { previous: opened });
    same(await opened.read(), images[i], `opened version ${i}`);
    const flat = await opened.flatten();
    check(flat.id === version.id && flat.previousId === null && flat.chainLength === 1, "flat");
    same(await decompress(await flat.toFile()), images[i], `flat version ${i}`);
  }
  const { changed, changedBytes } = diff(versions[0], versions[1]);
  check(changedBytes === changed.reduce((sum, { start, end }) => sum + end - start, 0), "bytes");
  for (const { start, end } of changed) check(start % PAGE === 0 && (end % PAGE === 0 || end === bytes.length), `${start}..${end}`);
  check(diff(versions[3], versions[3]).changed.length === 0, "a version equals itself");
}

async function takesMemoriesOfEveryKind() {
  const memory = new WebAssembly.Memory({ initial: 3, maximum: 8, shared: false });
  new Uint8Array(memory.buffer).set(kinds.text(100_000), 5000);
  const shared = new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true });
  new Uint8Array(shared.buffer).set(kinds.memory(50_000));
  const floats = Float64Array.from({ length: 999 }, (_, i) => Math.sqrt(i));
  const view = new DataView(new ArrayBuffer(100), 20, 50);
  view.setFloat32(8, 1.5);
  const parts = { memory, shared, floats, view };
  const taken = await snapshot(parts);
  check(taken.regions.map(({ name, byteLength }) => `${name} ${byteLength}`).join() === "memory 196608,shared 65536,floats 7992,view 50", "regions");
  const grown = new WebAssembly.Memory({ initial: 1, maximum: 8 });
  const others = { memory: grown, shared: new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }), floats: new Float64Array(999), view: new DataView(new ArrayBuffer(50)) };
  await restore(taken, others);
  check(grown.buffer.byteLength === 3 * WASM_PAGE, "the memory has grown");
  same(new Uint8Array(grown.buffer), new Uint8Array(memory.buffer), "memory");
  same(new Uint8Array(others.shared.buffer), new Uint8Array(shared.buffer), "shared");
  same(others.floats, floats, "floats");
  check(others.view.getFloat32(8) === 1.5, "view");
  // A longer memory gets zeros behind the region.
  const longer = new WebAssembly.Memory({ initial: 4 });
  new Uint8Array(longer.buffer).fill(9);
  await restore(await snapshot(memory), longer);
  check(new Uint8Array(longer.buffer, 3 * WASM_PAGE).every((byte) => byte === 0), "zeros");
}

async function restoresParts() {
  const bytes = image();
  const taken = await snapshot({ a: bytes, b: new Uint8Array(10) });
  const into = { a: new Uint8Array(bytes.length), b: new Uint8Array(10) };
  await restore(taken, into, { region: "a", start: 5000, end: 70_001 });
  same(into.a.subarray(5000, 70_001), bytes.subarray(5000, 70_001), "range");
  check(into.a.subarray(0, 5000).every((byte) => byte === 0) && into.a.subarray(70_001).every((byte) => byte === 0), "the rest");
  same(await taken.read({ region: "a", start: 12_345, end: 12_346 }), bytes.subarray(12_345, 12_346), "one byte");
  const lazy = restoreLazily(taken, into);
  await lazy.ensure({ region: "a", start: 9000, end: 9001 });
  check(lazy.restoredBytes === PAGE, `${lazy.restoredBytes} bytes`);
  await lazy.finish();
  check(lazy.restoredBytes === bytes.length + 10, `${lazy.restoredBytes} bytes`);
  same(into.a, bytes, "lazily");
}

async function reportsErrors() {
  const bytes = image();
  const first = await snapshot(bytes);
  change(bytes, 3, 1);
  const second = await snapshot(bytes, { previous: first });
  change(bytes, 3, 1);
  const third = await snapshot(bytes, { previous: second });
  const file = await third.toFile();
  const wrong = await rejects(openSnapshot(file, { previous: first }), "WRONG_BASE", PagepressError);
  check(wrong.message.includes(second.id) && wrong.message.includes(first.id), wrong.message);
  await rejects(openSnapshot(file), "WRONG_BASE", PagepressError);
  check((await previousIdOf(file)) === second.id, "the id of the base");
  await rejects(openSnapshot(file.subarray(0, -1), { previous: second }), "INVALID_SNAPSHOT", PagepressError);
  await rejects(openSnapshot(new Uint8Array()), "INVALID_SNAPSHOT", PagepressError);
  await rejects(openSnapshot(file, { previous: second, maxBytes: 5000 }), "OUTPUT_LIMIT", PagepressError);
  const damaged = await first.toFile();
  damaged[Math.floor(damaged.length / 3)] ^= 1;
  const opened = await openSnapshot(damaged);
  const error = await opened.read().then(() => null, (reason) => reason);
  check(["CHECKSUM_MISMATCH", "CORRUPT_PAGE"].includes(error?.code), `${error}`);
  await rejects(snapshot(bytes, { previous: second, pageSize: 8192 }), "INVALID_ARGUMENT", PagepressError);
  await rejects(snapshot(bytes, { pageSize: 5000 }), "INVALID_ARGUMENT", PagepressError);
  await rejects(snapshot(bytes, { prevoius: first }), "INVALID_ARGUMENT", PagepressError);
  await rejects(snapshot({}), "INVALID_ARGUMENT", PagepressError);
  await rejects(snapshot("text"), "INVALID_ARGUMENT", PagepressError);
  await rejects(restore(first, new Uint8Array(10)), "INVALID_ARGUMENT", PagepressError);
  await rejects(restore(first, new WebAssembly.Memory({ initial: 0, maximum: 1 })), "INVALID_ARGUMENT", PagepressError);
  await rejects(restore(first, bytes, { start: 9e9 }), "INVALID_ARGUMENT", PagepressError);
  await rejects(restore({}, bytes), "INVALID_ARGUMENT", PagepressError);
  // One memory is not the memory of two regions.
  const two = await snapshot({ a: new Uint8Array(9000).fill(1), b: new Uint8Array(10).fill(2) });
  const alone = new Uint8Array(9000);
  for (const into of [alone, { a: alone }]) await rejects(restore(two, into), "INVALID_ARGUMENT", PagepressError);
  check(alone.every((byte) => byte === 0), "nothing is restored");
  await restore(two, alone, { region: "a" });
  check(alone.every((byte) => byte === 1), "the region that is named");
  await rejects(first.read({ region: "other" }), "INVALID_ARGUMENT", PagepressError);
}

async function canBeAborted() {
  const bytes = kinds.text(2 ** 24);
  const reason = new Error("stop");
  for (const call of [(signal) => snapshot(bytes, { signal }), async (signal) => restore(await snapshot(bytes), new Uint8Array(bytes.length), { signal })]) {
    const stopping = new AbortController();
    const calling = call(stopping.signal);
    setTimeout(() => stopping.abort(reason), 5);
    check((await calling.then(() => null, (error) => error)) === reason, "the reason of the signal");
  }
  const seen = [];
  await snapshot(bytes, { onProgress: ({ bytesIn, totalBytes }) => seen.push(bytesIn / totalBytes) });
  check(seen.at(-1) === 1 && seen.every((part, i) => i === 0 || part >= seen[i - 1]), seen.join());
}

/** Without workers the module of the capture compresses all batches but the first two. The blocks are those of the compressor. */
async function compressesWhereThePagesAre() {
  const kindsOf = (n) => [kinds.text(n), kinds.random(n), kinds.zeros(n), kinds.memory(n), kinds.text(n)];
  const large = new Uint8Array(await new Blob(kindsOf(3 * 2 ** 20)).arrayBuffer()).subarray(0, -1000);
  const memory = { large, small: kinds.memory(50_000) };
  for (const options of [{}, { deterministic: true }, { level: "high" }]) {
    const compressor = await createCompressor({ backend: "cpu", workers: 0, ...options });
    const { compressPages } = compressor;
    let n = 0;
    compressor.compressPages = (...call) => {
      n += 1;
      return compressPages.apply(compressor, call);
    };
    const taken = await snapshot(memory, { compressor });
    check(n === 2, `the compressor compressed ${n} batches`);
    same(await taken.read({ region: "large" }), large, "content");
    const wrapped = await snapshot(memory, { compressor: { compressPages: (...call) => compressor.compressPages(...call) } });
    check(n > 4, `the compressor compressed ${n} batches`);
    same(await taken.toFile(), await wrapped.toFile(), JSON.stringify(options));
    await compressor.dispose();
  }
}

async function withWebGpu(work) {
  const compressor = await createCompressor({ backend: "webgpu", allowSoftware: true });
  try {
    await work(compressor);
  } finally {
    await compressor.dispose();
  }
}

export const cases = [
  ["restores every kind of page", () => restoresEveryKindOfPage()],
  ["stores only changes", () => storesOnlyChanges()],
  ["takes memories of every kind", takesMemoriesOfEveryKind],
  ["compresses in the module that has the pages", compressesWhereThePagesAre],
  ["restores ranges, at once and lazily", restoresParts],
  ["errors have codes", reportsErrors],
  ["calls can be aborted and report progress", canBeAborted],
];

export const casesWithGpu = [
  ["restores every kind of page that a GPU compressed", () => withWebGpu(restoresEveryKindOfPage)],
  ["stores only changes that a GPU compressed", () => withWebGpu(storesOnlyChanges)],
];
