// Passes content of any length through both streams while the calling test measures memory.
import { Lz4CompressionStream, Lz4DecompressionStream } from "/dist/index.js";
import { check } from "./check.js";
import { mixed } from "./data.js";

const CHUNK_BYTES = 2 ** 20;
/** More workers than usual, since each has its own memory. */
const WORKERS = 16;

/** Fills `chunk` with the `i`-th chunk of the content: distinct chunks, some compressible. */
function fill(chunk, template, i) {
  chunk.set(template);
  const words = new Uint32Array(chunk.buffer);
  words[0] = i;
  for (let at = 1; at < words.length; at += 1021) words[at] ^= Math.imul(i, 0x9e3779b1);
  return chunk;
}

/** Compresses and decompresses `length` bytes, compares them, and returns sizes and times. */
export async function run(length) {
  const template = mixed(65536, 3).slice(0, CHUNK_BYTES);
  const n = Math.ceil(length / CHUNK_BYTES);
  const total = n * CHUNK_BYTES;
  let made = 0;
  const source = new ReadableStream({
    pull(controller) {
      if (made === n) controller.close();
      else controller.enqueue(fill(new Uint8Array(CHUNK_BYTES), template, made++));
    },
  });
  const progress = { bytesIn: 0, bytesOut: 0 };
  const onProgress = ({ bytesIn, bytesOut, totalBytes }) => {
    check(bytesIn >= progress.bytesIn && bytesOut >= progress.bytesOut && totalBytes === total, "progress falls");
    Object.assign(progress, { bytesIn, bytesOut });
  };
  const options = { backend: "cpu", contentSize: total, transfer: true, workers: WORKERS };
  const start = performance.now();
  const reader = source
    .pipeThrough(new Lz4CompressionStream({ ...options, onProgress }))
    .pipeThrough(new Lz4DecompressionStream({ backend: "cpu", transfer: true }))
    .getReader();
  let read = 0;
  const expected = fill(new Uint8Array(CHUNK_BYTES), template, 0);
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    for (let i = 0; i < value.length; i += 1, read += 1) {
      const at = read % CHUNK_BYTES;
      if (at === 0 && read > 0) fill(expected, template, read / CHUNK_BYTES);
      if (value[i] !== expected[at]) throw new Error(`byte ${read} is wrong`);
    }
    // The test itself must not keep chunks, as the memory of the streams is measured.
    value.buffer.transfer(0);
  }
  check(read === total, `${read} bytes of ${total}`);
  check(progress.bytesIn === total, `progress ends at ${progress.bytesIn}`);
  return { bytes: total, compressed: progress.bytesOut, ms: performance.now() - start };
}
