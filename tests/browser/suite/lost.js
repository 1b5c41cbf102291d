// Calls that run while `harness/gpu-process.mjs` kills the GPU process. Each succeeds on a new device or fails with the code
// of a lost device; none hangs or returns wrong bytes.
import { compressSync, createCompressor, decompressSync, Lz4CompressionStream, PagepressError } from "/dist/index.js";
import { GpuBackend, GpuDevice } from "/dist/tensor.js";
import { check, same } from "./check.js";
import { mixed } from "./data.js";
import { collect, source } from "./pipes.js";

const software = { backend: "webgpu", allowSoftware: true };
/** The codes of a call whose device is lost, or that finds no adapter while the GPU process restarts. */
const LOST = ["DEVICE_LOST", "BACKEND_UNAVAILABLE"];
/** Time limit of a call. */
const LONGEST_MS = 60_000;

const bytes = mixed(65536, 8);
let frame;
let packed;
let gpu;

/** Creates a buffer with the content. If the lost device refuses, a call of the compressor replaces the device first. */
async function buffer() {
  let made;
  try {
    made = gpu.device.createBuffer({ size: Math.ceil(bytes.length / 4) * 4, usage: GPUBufferUsage.STORAGE, mappedAtCreation: true });
  } catch (error) {
    await gpu.compressPages(bytes.subarray(0, 4096));
    throw new PagepressError("DEVICE_LOST", error.message);
  }
  new Uint8Array(made.getMappedRange()).set(bytes);
  made.unmap();
  return made;
}

async function product() {
  const device = await GpuDevice.open({ allowSoftware: true });
  try {
    const n = 256;
    const ones = await device.tensor(new Float32Array(n * n).fill(1), [n, n]);
    let made = ones;
    for (let i = 0; i < 8; i += 1) made = await (await made.matmul(ones)).scale(1 / n);
    same((await made.read()).subarray(0, 100), new Float32Array(100).fill(1), "product");
  } finally {
    device.dispose();
  }
}

async function arrays() {
  const device = await GpuDevice.open({ allowSoftware: true });
  const backend = new GpuBackend({ device });
  try {
    const values = new Float32Array(1_000_000).fill(2);
    for (let i = 0; i < 10; i += 1) check((await backend.sum(values)) === 2_000_000, "sum");
  } finally {
    backend.dispose();
    device.dispose();
  }
}

/** The calls, which check their results. */
export const calls = {
  compress: async () => same(decompressSync(await gpu.compress(bytes)), bytes, "compress"),
  tensors: product,
  compressResident: async () => {
    const pages = await gpu.compressResident(await buffer(), { byteLength: bytes.length });
    const read = await pages.read();
    same(await gpu.decompressPages(read), bytes, "compressResident");
  },
  decompress: async () => same(await gpu.decompress(frame), bytes, "decompress"),
  stream: async () => {
    const stream = new Lz4CompressionStream({ compressor: gpu, blockSize: 4096 });
    same(decompressSync(await collect(source(bytes).pipeThrough(stream))), bytes, "stream");
  },
  compressPages: async () => same((await gpu.compressPages(bytes, { level: "high" })).table.subarray(0, 2), packed.table.subarray(0, 2), "compressPages"),
  decompressPages: async () => same(await gpu.decompressPages(packed), bytes, "decompressPages"),
  decompressResident: async () => check((await gpu.decompressResident(packed)).byteLength === bytes.length, "decompressResident"),
  backend: arrays,
};

/** Opens the compressor and prepares the inputs of the calls. */
export async function begin() {
  gpu = await createCompressor(software);
  packed = await gpu.compressPages(bytes, { level: "high" });
  frame = compressSync(bytes, { level: "fast" });
}

/** Repeats a call for `ms` milliseconds, at least once, and returns the outcome of each: `"done"` or a code. */
export async function run(name, ms) {
  const outcomes = [];
  const start = performance.now();
  do outcomes.push(await outcomeOf(name));
  while (performance.now() - start < ms);
  return outcomes;
}

async function outcomeOf(name) {
  let timer;
  const late = new Promise((resolve) => (timer = setTimeout(() => resolve("hangs"), LONGEST_MS)));
  const work = calls[name]().then(
    () => "done",
    (error) => {
      if (error instanceof PagepressError && LOST.includes(error.code)) return error.code;
      return `${error.code ?? error.name}: ${error.message}\n${error.stack}`;
    },
  );
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
