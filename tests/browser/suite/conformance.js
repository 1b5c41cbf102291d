// Tests that the GPU writes the same bytes as the CPU and detects the same faults.
import { createCompressor } from "/dist/index.js";
import { check, same } from "./check.js";
import { kinds, mixed, randomNumbers } from "./data.js";

const pageSizes = [4096, 8192, 16384, 32768, 65536];
const levels = ["fast", "high"];

let opened;
/** Returns the compressors of all cases, opened on first use: SwiftShader takes longer to compile kernels than to run them. */
const compressors = () => (opened ??= Promise.all([createCompressor({ backend: "webgpu", allowSoftware: true }), createCompressor({ backend: "cpu" })]));

async function both(work) {
  const [gpu, cpu] = await compressors();
  await work(gpu, cpu);
  check(gpu.backend.engine === "webgpu", `the engine became ${gpu.backend.engine}`);
}

function pagesCase(pageSize, level) {
  return both(async (gpu, cpu) => {
    const bytes = mixed(pageSize, pageSize > 8192 ? 1 : 4);
    const expected = await cpu.compressPages(bytes, { pageSize, level });
    const actual = await gpu.compressPages(bytes, { pageSize, level });
    check(gpu.lastTiming.engine === "webgpu", `compressed on ${gpu.lastTiming.engine}`);
    same(actual.table, expected.table, "table");
    same(actual.packed, expected.packed, "packed");
    check(actual.ratio === expected.ratio, "ratio");
    check(actual.byteLength === bytes.length, "byteLength");
    same(await gpu.decompressPages(expected), bytes, "decompressed on the GPU");
    check(gpu.lastTiming.engine === "webgpu", `decompressed on ${gpu.lastTiming.engine}`);
    same(await cpu.decompressPages(actual), bytes, "decompressed on the CPU");
  });
}

/** Random changes to blocks and tables result in the same statuses and the same bytes on both engines. */
function corruptCase(pageSize) {
  return both(async (gpu, cpu) => {
    const sound = await cpu.compressPages(mixed(pageSize, 4), { pageSize });
    const next = randomNumbers(pageSize);
    const seen = new Set();
    for (let round = 0; round < 8; round += 1) {
      const packed = sound.packed.slice();
      const table = sound.table.slice();
      for (let i = 0; i < 40; i += 1) packed[next() % packed.length] = next();
      for (let i = 0; i < 3; i += 1) table[next() % table.length] ^= 1 << (next() % 32);
      // An invalid kind, which is a fault of one page.
      table[1] |= 0xc000_0000;
      const broken = { ...sound, packed, table };
      const expected = await cpu.checkPages(broken);
      const actual = await gpu.checkPages(broken);
      same(actual.status, expected.status, `status in round ${round}`);
      same(actual.bytes, expected.bytes, `bytes in round ${round}`);
      for (const compressor of [cpu, gpu]) {
        const into = new Uint8Array(expected.bytes.length).fill(7);
        same((await compressor.checkPages(broken, { into })).bytes, expected.bytes, `bytes in round ${round}, into an array`);
      }
      check(expected.status[0] > 0 && expected.status.some((status) => status === 0), "a page without a kind, others sound");
      for (const status of expected.status) seen.add(status);
    }
    check(seen.size >= 4, `the changes led to no more than ${[...seen]}`);
  });
}

function framesCase(blockSize, level) {
  return both(async (gpu, cpu) => {
    const bytes = mixed(16384, 2);
    const options = { blockSize, level, blockChecksums: true };
    const expected = await cpu.compress(bytes, options);
    same(await gpu.compress(bytes, options), expected, "frame");
    same(await gpu.decompress(expected), bytes, "decompressed on the GPU");
    same(await cpu.decompress(expected), bytes, "decompressed on the CPU");
  });
}

/** Frames without block checksums, which another path assembles, with some fill pages. */
function pageFramesCase(blockSize, contentChecksum) {
  return both(async (gpu, cpu) => {
    const bytes = mixed(blockSize, 3);
    const view = new DataView(bytes.buffer);
    for (let at = 0; at + 4 <= 2 * blockSize; at += 4) view.setUint32(at, at < blockSize ? 0 : 0x01020304, true);
    const content = bytes.subarray(0, bytes.length - 3);
    const options = { blockSize, level: "fast", contentChecksum };
    const expected = await cpu.compress(content, options);
    same(await gpu.compress(content, options), expected, "frame");
    check(gpu.lastTiming.engine === "webgpu", `compressed on ${gpu.lastTiming.engine}`);
    same(await gpu.decompress(expected), content, "decompressed on the GPU");
    check(gpu.lastTiming.engine === "webgpu", `decompressed on ${gpu.lastTiming.engine}`);
    await gpu.compress(new Uint8Array(), options).then((frame) => gpu.decompress(frame));
  });
}

/** A frame of several jobs of the GPU. */
function largeFrameCase() {
  return both(async (gpu, cpu) => {
    const bytes = mixed(65536, 5);
    const content = new Uint8Array(33 * 2 ** 20);
    for (const at of [0, 20 * 2 ** 20, content.length - bytes.length]) content.set(bytes, at);
    const options = { level: "fast", blockSize: 4096 };
    const frame = await gpu.compress(content, options);
    same(frame, await cpu.compress(content, options), "frame");
    same(await gpu.decompress(frame), content, "decompressed on the GPU");
    check(gpu.lastTiming.engine === "webgpu", `decompressed on ${gpu.lastTiming.engine}`);
  });
}

/** A frame with an index, one whose checksum is wrong, and one that is longer than allowed. */
function otherFramesCase() {
  return both(async (gpu, cpu) => {
    const content = mixed(65536, 5);
    const options = { level: "fast", index: true };
    same(await gpu.compress(content, options), await cpu.compress(content, options), "frame with an index");
    const wrong = await cpu.compress(content, { level: "fast" });
    wrong[wrong.length - 1] ^= 1;
    const error = await gpu.decompress(wrong).catch((thrown) => thrown);
    check(error.code === "CHECKSUM_MISMATCH", `a wrong checksum: ${error}`);
    const long = await gpu.compress(content, { maxOutputSize: 1000 }).catch((thrown) => thrown);
    check(long.code === "OUTPUT_LIMIT", `a frame of more than 1000 bytes: ${long}`);
  });
}

function edgesCase() {
  return both(async (gpu, cpu) => {
    for (const length of [0, 1, 5, 12, 13, 64, 4095, 4096, 4097, 8191]) {
      const bytes = kinds.text(length);
      const expected = await cpu.compressPages(bytes, { level: "fast" });
      const actual = await gpu.compressPages(bytes, { level: "fast" });
      same(actual.table, expected.table, `table of ${length} bytes`);
      same(actual.packed, expected.packed, `packed of ${length} bytes`);
      same(await gpu.decompressPages(actual), bytes, `${length} bytes`);
    }
  });
}

/** Without a level each engine uses its fastest level. */
function fastestLevelCase() {
  return both(async (gpu, cpu) => {
    const bytes = mixed(4096, 2);
    for (const [compressor, quickest] of [[gpu, "fast"], [cpu, "sequential"]]) {
      for (const level of [undefined, "auto"]) {
        const expected = await compressor.compressPages(bytes, { level: quickest });
        same((await compressor.compressPages(bytes, { level })).packed, expected.packed, `pages, ${level}`);
        same(await compressor.compress(bytes, { level }), await compressor.compress(bytes, { level: quickest }), `frame, ${level}`);
      }
    }
    const [there, here] = [await gpu.compress(bytes), await cpu.compress(bytes)];
    check(there.length !== here.length, "the levels give the same");
    same(await gpu.decompress(here), bytes, "the CPU's on the GPU");
    same(await cpu.decompress(there), bytes, "the GPU's on the CPU");
  });
}

/** The cases that workers run too: the other results do not depend on the scope. */
export const casesInWorkers = [
  ["short and empty pages", edgesCase],
  ["corrupt pages of 4096", () => corruptCase(4096)],
  ["frames of pages of 65536, without a checksum", () => pageFramesCase(65536, false)],
  ["frames with an index, with a wrong checksum and without room", otherFramesCase],
];

export const cases = [
  ...casesInWorkers,
  ...pageSizes.flatMap((size) => levels.map((level) => [`pages of ${size}, ${level}`, () => pagesCase(size, level)])),
  ["the default level of each engine is its fastest", fastestLevelCase],
  ["corrupt pages of 65536", () => corruptCase(65536)],
  ["frames of pages of 4096", () => pageFramesCase(4096, true)],
  ["a frame of several jobs", largeFrameCase],
  ["frames with blocks of 4096, fast", () => framesCase(4096, "fast")],
  ["frames with blocks of 65536, high", () => framesCase(65536, "high")],
  ["frames with blocks of 262144, fast", () => framesCase(262144, "fast")],
];
