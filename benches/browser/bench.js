// Benchmarks Pagepress in this browser: kernels on resident pages, and the package from array to array.
import { createCompressor } from "/dist/index.js";
import { benchResident } from "./resident.js";

const END_TO_END_BYTES = 256 << 20;
const PAGE_SIZE = 4096;

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];
const gbps = (bytes, ms) => Math.round(bytes / ms / 1e4) / 100;

/** Returns the whole pages of `bytes`, repeated to at least `atLeast` bytes. */
function repeat(bytes, atLeast) {
  const out = new Uint8Array(Math.max(1, Math.ceil(atLeast / bytes.length)) * bytes.length);
  for (let at = 0; at < out.length; at += bytes.length) out.set(bytes, at);
  return out;
}

function isSame(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

async function time(runs, work) {
  const times = [];
  let value = await work();
  for (let i = 0; i < runs; i += 1) {
    value = null;
    const begin = performance.now();
    value = await work();
    times.push(performance.now() - begin);
  }
  return { value, ms: median(times) };
}

async function endToEnd(bytes, runs, allowSoftware) {
  const compressor = await createCompressor({ backend: "webgpu", allowSoftware });
  const { length } = bytes;
  const pages = await time(runs, () => compressor.compressPages(bytes, { pageSize: PAGE_SIZE }));
  const compressTiming = compressor.lastTiming;
  const room = new Uint8Array(Math.ceil(length / 4) * 4).fill(1);
  const packedInto = await time(runs, () => compressor.compressPages(bytes, { pageSize: PAGE_SIZE, into: room }));
  if (!isSame(packedInto.value.packed, pages.value.packed)) throw new Error("blocks in an array in use differ");
  const back = await time(runs, () => compressor.decompressPages(pages.value));
  const decompressTiming = compressor.lastTiming;
  if (!isSame(back.value, bytes)) throw new Error("pages differ");
  const into = new Uint8Array(length).fill(1);
  const reused = await time(runs, () => compressor.decompressPages(pages.value, { into }));
  if (!isSame(into, bytes)) throw new Error("pages in an array in use differ");
  const frame = await time(runs, () => compressor.compress(bytes));
  const content = await time(runs, () => compressor.decompress(frame.value));
  if (!isSame(content.value, bytes)) throw new Error("frame differs");
  into.fill(1);
  const contentReused = await time(runs, () => compressor.decompress(frame.value, { into }));
  if (!isSame(into, bytes)) throw new Error("a frame in an array in use differs");
  const result = {
    engine: compressor.backend,
    n_bytes: length,
    pages_compress_gbps: gbps(length, pages.ms),
    pages_decompress_gbps: gbps(length, back.ms),
    pages_compress_into_gbps: gbps(length, packedInto.ms),
    pages_decompress_into_gbps: gbps(length, reused.ms),
    frame_compress_gbps: gbps(length, frame.ms),
    frame_decompress_gbps: gbps(length, content.ms),
    frame_decompress_into_gbps: gbps(length, contentReused.ms),
    compress_timing: compressTiming,
    decompress_timing: decompressTiming,
  };
  await compressor.dispose();
  return result;
}

/** Benchmarks each file of `options.files` and passes each result to `note`. With 0 bytes the end-to-end part is skipped. */
export async function bench({ files, residentBytes, endToEndBytes = END_TO_END_BYTES, runs = 5, allowSoftware }, note) {
  for (const file of files) {
    const response = await fetch(file);
    if (!response.ok) throw new Error(`${file}: ${response.status}`);
    const content = new Uint8Array(await response.arrayBuffer());
    const bytes = content.subarray(0, content.length - (content.length % PAGE_SIZE));
    const copies = Math.max(1, Math.ceil(residentBytes / bytes.length));
    note({ file, resident: await benchResident(bytes, copies, PAGE_SIZE, runs, allowSoftware) });
    if (endToEndBytes === 0) continue;
    note({ file, end_to_end: await endToEnd(repeat(bytes, endToEndBytes), runs, allowSoftware) });
  }
}
