// Benchmarks pages that stay in GPU memory, by timestamps of the device.
import { createCompressor } from "/dist/index.js";

/** Duration of the warm-up: idle GPUs lower their clock. */
const WARM_UP_MS = 1500;
const COMPARED_BYTES = 32 << 20;

/** Uploads `copies` copies of `bytes` to GPU memory. */
function fill(device, bytes, copies) {
  const usage = GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_SRC | GPUBufferUsage.COPY_DST;
  const one = device.createBuffer({ size: bytes.length, usage });
  device.queue.writeBuffer(one, 0, bytes);
  const all = device.createBuffer({ size: copies * bytes.length, usage });
  const encoder = device.createCommandEncoder();
  for (let copy = 0; copy < copies; copy += 1) {
    encoder.copyBufferToBuffer(one, 0, all, copy * bytes.length, bytes.length);
  }
  device.queue.submit([encoder.finish()]);
  one.destroy();
  return all;
}

/** Returns the median kernel time of `runs` calls after a warm-up, in nanoseconds, and the last result. */
async function time(compressor, runs, work, free) {
  const times = [];
  let value;
  for (const begin = performance.now(); times.length < runs; ) {
    const isWarm = performance.now() - begin > WARM_UP_MS;
    if (value) free(value);
    value = await work();
    const { kernelNs } = compressor.lastTiming;
    if (kernelNs === null) throw new Error("this browser gives no timestamps; nothing can be timed");
    if (isWarm) times.push(kernelNs);
  }
  return { value, ns: times.sort((a, b) => a - b)[times.length >> 1] };
}

async function read(device, buffer, at, length) {
  const staging = device.createBuffer({ size: length, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = device.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, at, staging, 0, length);
  device.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  const bytes = new Uint8Array(staging.getMappedRange().slice(0));
  staging.destroy();
  return bytes;
}

function same(actual, expected, what) {
  const words = (bytes) => new BigUint64Array(bytes.slice(0, bytes.length & ~7).buffer);
  const [a, b] = [words(actual), words(expected)];
  if (a.length !== b.length || a.some((word, i) => word !== b[i])) throw new Error(`${what} differ`);
}

/** Checks that the blocks of the first copy equal those of the CPU, and that all copies are restored. */
async function verify(device, bytes, copies, pages, back) {
  const cpu = await createCompressor({ backend: "cpu" });
  const expected = await cpu.compressPages(bytes, { pageSize: pages.pageSize, level: "fast" });
  await cpu.dispose();
  const [part] = pages.parts;
  const packedBytes = Math.min(expected.packed.length, part.packedBytes);
  same(await read(device, part.packed, 0, packedBytes), expected.packed.subarray(0, packedBytes), "blocks");
  for (let copy = 0; copy < copies; copy += 1) {
    for (let at = 0; at < bytes.length; at += COMPARED_BYTES) {
      const piece = bytes.subarray(at, at + COMPARED_BYTES);
      same(await read(device, back, copy * bytes.length + at, piece.length), piece, "pages");
    }
  }
}

/** Benchmarks `copies` copies of `bytes`. */
export async function benchResident(bytes, copies, pageSize, runs, allowSoftware) {
  const compressor = await createCompressor({ backend: "webgpu", allowSoftware });
  const { device } = compressor;
  const nBytes = copies * bytes.length;
  const buffer = fill(device, bytes, copies);
  const compress = () => compressor.compressResident(buffer, { pageSize });
  const pages = await time(compressor, runs, compress, (value) => value.destroy());
  const target = fill(device, new Uint8Array(bytes.length), copies);
  const back = await time(compressor, runs, () => compressor.decompressResident(pages.value, { buffer: target }), () => {});
  await verify(device, bytes, copies, pages.value, target);
  const result = {
    adapter: compressor.backend.adapter,
    n_bytes: nBytes,
    page_size: pageSize,
    parts: pages.value.parts.length,
    ratio: Number(pages.value.ratio.toFixed(3)),
    compress_gbps: Number((nBytes / pages.ns).toFixed(1)),
    decompress_gbps: Number((nBytes / back.ns).toFixed(1)),
    runs,
    verified: true,
  };
  await compressor.dispose();
  return result;
}
