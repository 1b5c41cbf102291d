// Mixed calls for a window, a worker and Node: pages, frames, streams, random access, aborts, corrupted input.
import {
  createCompressor,
  Lz4CompressionStream,
  Lz4DecompressionStream,
  openFrame,
  PagepressError,
} from "../../../dist/index.js";
import { check, same } from "./check.js";
import { kinds, randomNumbers } from "./data.js";
import { collect, source } from "./pipes.js";

const next = randomNumbers(1);
const below = (n) => next() % n;
const among = (list) => list[below(list.length)];
/** Set while `begin` makes calls of the largest size: allocators and WebAssembly memory keep their peak. */
let isLargest = false;
const content = (most) => among(Object.values(kinds))(isLargest ? most : 1 + below(most));
const options = () => ({
  blockSize: 4096 << below(9),
  level: among(["fast", "high"]),
  blockChecksums: below(2) === 0,
  index: below(2) === 0,
});

async function pages({ compressor }) {
  const [bytes, pageSize] = [content(500_000), 4096 << below(5)];
  same(await compressor.decompressPages(await compressor.compressPages(bytes, { pageSize })), bytes, "pages");
}

async function frames({ compressor }) {
  const bytes = content(3_000_000);
  same(await compressor.decompress(await compressor.compress(bytes, options())), bytes, "frame");
}

async function streams({ backend }) {
  const bytes = content(3_000_000);
  const compressed = source(bytes).pipeThrough(new Lz4CompressionStream({ ...backend, ...options() }));
  same(await collect(compressed.pipeThrough(new Lz4DecompressionStream(backend))), bytes, "stream");
}

/** Cancels readers of streams, which must release their workers. */
async function leftStreams({ backend }) {
  const compressed = source(content(3_000_000)).pipeThrough(new Lz4CompressionStream({ ...backend, ...options() }));
  const reader = compressed.getReader();
  await reader.read();
  await reader.cancel();
}

async function parts({ compressor }) {
  const bytes = content(2_000_000);
  const file = await openFrame(await compressor.compress(bytes, options()));
  for (let i = 0; i < 4; i += 1) {
    const at = below(bytes.length);
    same(await file.read(at, 50_000), bytes.subarray(at, at + 50_000), "part");
  }
}

async function aborts({ compressor }) {
  const controller = new AbortController();
  const call = compressor.compress(content(3_000_000), { ...options(), signal: controller.signal });
  const outcome = call.then(() => null, (error) => error);
  if (below(2) === 0) await new Promise((resolve) => setTimeout(resolve, below(10)));
  controller.abort();
  const error = await outcome;
  check(error === null || error.name === "AbortError", String(error));
}

/** Most bytes that a damaged file may decompress to. */
const DAMAGED_MAX_BYTES = 2 ** 24;

async function damage({ compressor }) {
  const file = await compressor.compress(content(500_000), options());
  for (let i = 0; i < 1 + below(4); i += 1) file[below(file.length)] = next();
  const outcome = compressor.decompress(file, { maxOutputSize: DAMAGED_MAX_BYTES });
  const error = await outcome.then(() => null, (failure) => failure);
  check(error === null || error instanceof PagepressError, String(error));
}

async function freshCompressors(state) {
  await state.compressor.dispose();
  state.compressor = await createCompressor(state.backend);
}

/** Rounds of calls of the largest size before anything is measured. */
const N_LARGEST = 4;

const calls = { pages, frames, streams, leftStreams, parts, aborts, damage, freshCompressors };

/** Opens a compressor for `backend`, and makes each kind of call with content of the largest size, so that memory measured
 * later is compared with its peak and not with that of smaller content. */
export async function begin(backend) {
  const state = { backend, compressor: await createCompressor(backend), counts: {} };
  isLargest = true;
  for (let i = 0; i < N_LARGEST; i += 1) {
    for (const call of Object.values(calls)) await call(state);
    // Few damaged files claim as much as they may, and memory of WebAssembly never shrinks.
    const largest = kinds.memory(DAMAGED_MAX_BYTES);
    const file = await state.compressor.compress(largest, options());
    same(await state.compressor.decompress(file, { maxOutputSize: DAMAGED_MAX_BYTES }), largest, "largest frame");
  }
  isLargest = false;
  return state;
}

/**
 * Disposes of the resources of the state, waits for its workers to end, and collects garbage if the host allows it. `soak`
 * can continue afterwards.
 */
export async function rest(state) {
  await state.compressor.dispose();
  state.compressor = await createCompressor(state.backend);
  for (let i = 0; i < 3; i += 1) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    globalThis.gc?.();
  }
}

/** Makes calls for `seconds`, beginning with one of each kind. */
export async function soak(state, seconds) {
  const end = performance.now() + 1000 * seconds;
  const first = Object.keys(calls).filter((name) => !state.counts[name]);
  while (first.length > 0 || performance.now() < end) {
    const name = first.shift() ?? among(Object.keys(calls));
    await calls[name](state);
    state.counts[name] = (state.counts[name] ?? 0) + 1;
  }
  return state.counts;
}
