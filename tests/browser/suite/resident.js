// Tests pages that stay in GPU memory, on the device of the compressor.
import { createCompressor, PagepressError } from "/dist/index.js";
import { contentOf } from "./buffers.js";
import { check, rejects, same } from "./check.js";
import { kinds, mixed } from "./data.js";

const software = { backend: "webgpu", allowSoftware: true };

async function withGpu(work) {
  const gpu = await createCompressor(software);
  try {
    await work(gpu, gpu.device);
  } finally {
    await gpu.dispose();
  }
}

/** Creates a buffer with `bytes`. */
function bufferOf(device, bytes, usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC) {
  const size = Math.ceil(bytes.length / 4) * 4;
  const buffer = device.createBuffer({ size, usage, mappedAtCreation: true });
  new Uint8Array(buffer.getMappedRange()).set(bytes);
  buffer.unmap();
  return buffer;
}

function roundTrip(pageSize, level) {
  return withGpu(async (gpu, device) => {
    const bytes = mixed(pageSize, 2);
    const expected = await gpu.compressPages(bytes, { pageSize, level });
    const buffer = bufferOf(device, bytes);
    const pages = await gpu.compressResident(buffer, { byteLength: bytes.length, pageSize, level });
    check(gpu.lastTiming.engine === "webgpu" && gpu.lastTiming.totalNs > 0, JSON.stringify(gpu.lastTiming));
    const read = await pages.read();
    same(read.packed, expected.packed, "blocks");
    same(read.table, expected.table, "table");
    check(read.ratio === expected.ratio && pages.ratio === expected.ratio, `ratio ${read.ratio}, ${pages.ratio}`);
    check(read.byteLength === bytes.length && read.pageSize === pageSize, JSON.stringify([read.byteLength, read.pageSize]));
    const content = await gpu.decompressResident(pages);
    check(content.byteLength === bytes.length, `${content.byteLength} bytes`);
    same(await contentOf(device, content.buffer, bytes.length), bytes, "content");
    same(await contentOf(device, buffer, bytes.length), bytes, "the buffer given");
    pages.destroy();
  });
}

async function decompressesArrays() {
  await withGpu(async (gpu, device) => {
    const bytes = mixed(4096, 3);
    const pages = await gpu.compressPages(bytes);
    const seen = [];
    const usage = GPUBufferUsage.VERTEX;
    const { buffer, byteLength } = await gpu.decompressResident(pages, { usage, onProgress: (step) => seen.push(step) });
    check((buffer.usage & usage) !== 0, `usage ${buffer.usage}`);
    same(await contentOf(device, buffer, byteLength), bytes, "pages in arrays");
    check(seen.at(-1)?.bytesIn === bytes.length && seen.at(-1).backend === "webgpu", JSON.stringify(seen));
    const own = bufferOf(device, new Uint8Array(bytes.length + 100).fill(7), 0x8c);
    const target = await gpu.decompressResident(pages, { buffer: own });
    check(target.buffer === own, "not the caller's buffer");
    const all = await contentOf(device, own);
    same(all.subarray(0, bytes.length), bytes, "in the caller's buffer");
    check(all.subarray(bytes.length + 4, bytes.length + 100).every((byte) => byte === 7), "behind the content");
  });
}

async function decompressesFrames() {
  await withGpu(async (gpu, device) => {
    const bytes = mixed(16384, 5);
    const contents = { bytes, little: kinds.text(99), nothing: new Uint8Array(), page: kinds.memory(4096) };
    for (const [name, content] of Object.entries(contents)) {
      for (const options of [{}, { blockSize: 4096, blockChecksums: true }, { blockSize: 1 << 20 }, { index: true }]) {
        const frame = await gpu.compress(content, options);
        const { buffer, byteLength } = await gpu.decompressResident(frame);
        const what = `${name} ${JSON.stringify(options)}`;
        check(byteLength === content.length, `${what}: ${byteLength} bytes`);
        if (byteLength > 0) same(await contentOf(device, buffer, byteLength), content, what);
      }
    }
    const two = new Uint8Array([...(await gpu.compress(bytes)), ...(await gpu.compress(contents.little))]);
    const both = await gpu.decompressResident(two);
    same((await contentOf(device, both.buffer, both.byteLength)).subarray(bytes.length), contents.little, "second frame");
    await rejects(gpu.decompressResident(kinds.text(50)), "NOT_LZ4", PagepressError);
    const frame = await gpu.compress(bytes, { blockChecksums: true });
    frame[frame.length >> 1] ^= 4;
    await rejects(gpu.decompressResident(frame), "CHECKSUM_MISMATCH", PagepressError);
    await rejects(gpu.decompressResident(two, { maxOutputSize: 1000 }), "OUTPUT_LIMIT", PagepressError);
  });
}

async function findsCorruptPages() {
  await withGpu(async (gpu, device) => {
    const bytes = kinds.text(5 * 4096);
    const pages = await gpu.compressPages(bytes);
    pages.packed.fill(255, pages.table[4] * 4, pages.table[4] * 4 + 40);
    const own = bufferOf(device, new Uint8Array(bytes.length).fill(7), 0x8c);
    const error = await rejects(gpu.decompressResident(pages, { buffer: own }), "CORRUPT_PAGE", PagepressError);
    check(error.message.includes("page 2"), error.message);
    const content = await contentOf(device, own);
    check(content.subarray(8192, 12288).every((byte) => byte === 0), "the corrupt page is not zeros");
    same(content.subarray(12288), bytes.subarray(12288), "pages behind");
    same(content.subarray(0, 8192), bytes.subarray(0, 8192), "pages before");
  });
}

async function refusesWrongBuffers() {
  const cpu = await createCompressor({ backend: "cpu" });
  const bytes = kinds.memory(3 * 4096);
  const packed = await cpu.compressPages(bytes, { level: "fast" });
  await rejects(cpu.decompressResident(packed), "BACKEND_UNAVAILABLE", PagepressError);
  await withGpu(async (gpu, device) => {
    const buffer = bufferOf(device, bytes);
    await rejects(cpu.compressResident(buffer), "BACKEND_UNAVAILABLE", PagepressError);
    const invalid = (work) => rejects(work, "INVALID_ARGUMENT", PagepressError);
    await invalid(gpu.compressResident(bytes));
    await invalid(gpu.compressResident(null));
    await invalid(gpu.compressResident(buffer, { byteLength: buffer.size + 1 }));
    await invalid(gpu.compressResident(buffer, { pageSize: 5000 }));
    await invalid(gpu.compressResident(bufferOf(device, bytes, GPUBufferUsage.COPY_SRC)));
    const short = bufferOf(device, bytes.subarray(4096), 0x8c);
    await invalid(gpu.decompressResident(packed, { buffer: short }));
    await invalid(gpu.decompressResident({ ...packed, table: packed.table.subarray(2) }));
    const other = await createCompressor(software);
    const foreign = bufferOf(other.device, bytes);
    await rejects(gpu.compressResident(foreign), "ENGINE", PagepressError);
    await other.dispose();
    const reason = new Error("no longer wanted");
    const aborted = gpu.compressResident(buffer, { signal: AbortSignal.abort(reason) });
    check((await aborted.catch((error) => error)) === reason, "not the signal's reason");
    const pages = await gpu.compressResident(buffer);
    same((await pages.read()).packed, packed.packed, "after all that");
  });
  await cpu.dispose();
}

async function replacesLostDevice() {
  await withGpu(async (gpu, device) => {
    const bytes = kinds.text(8 * 4096);
    const buffer = bufferOf(device, bytes);
    device.destroy();
    await rejects(gpu.compressResident(buffer), "DEVICE_LOST", PagepressError);
    check(gpu.device !== device, "the lost device is still in use");
    const pages = await gpu.compressResident(bufferOf(gpu.device, bytes));
    const content = await gpu.decompressResident(pages);
    same(await contentOf(gpu.device, content.buffer, bytes.length), bytes, "on the new device");
  });
}

/** Tests a compressor on a device that the page opened: it accepts buffers of the device, and `dispose` leaves it open. */
async function takesADevice() {
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  const gpu = await createCompressor({ device });
  check(gpu.device === device && gpu.backend.engine === "webgpu", `on ${gpu.backend.adapter}`);
  const bytes = kinds.text(5 * 4096);
  const pages = await gpu.compressResident(bufferOf(device, bytes));
  const content = await gpu.decompressResident(pages);
  same(await contentOf(device, content.buffer, bytes.length), bytes, "on the page's device");
  await gpu.dispose();
  same(await contentOf(device, content.buffer, bytes.length), bytes, "after dispose");
  await rejects(createCompressor({ device, backend: "cpu" }), "INVALID_ARGUMENT", PagepressError);
  await rejects(createCompressor({ device: {} }), "INVALID_ARGUMENT", PagepressError);
  device.destroy();
}

/** Tests that `memory` counts GPU memory, and is null on the CPU and after `dispose`. */
async function countsMemory() {
  const gpu = await createCompressor(software);
  const before = gpu.memory;
  await gpu.compressPages(kinds.text(1_000_000));
  const after = gpu.memory;
  check(after.inUse + after.pooled > before.inUse + before.pooled, JSON.stringify([before, after]));
  await gpu.dispose();
  check(gpu.memory === null, "memory of a compressor that was disposed of");
  const cpu = await createCompressor({ backend: "cpu" });
  check(cpu.memory === null, "GPU memory of the CPU");
  await cpu.dispose();
}

/** The cases that workers run too: the other results do not depend on the scope. */
export const casesInWorkers = [
  ["4 KiB pages there and back", () => roundTrip(4096, "fast")],
  ["finds corrupt pages", findsCorruptPages],
  ["refuses wrong buffers", refusesWrongBuffers],
  ["replaces a lost device", replacesLostDevice],
  ["takes the page's device", takesADevice],
  ["counts GPU memory", countsMemory],
];

export const cases = [
  ...casesInWorkers,
  ["64 KiB pages there and back", () => roundTrip(65536, "high")],
  ["decompresses arrays", decompressesArrays],
  ["decompresses frames", decompressesFrames],
];
