// Compares compression libraries in one worker of this browser, on the same data and in turns.
import { createCompressor } from "/dist/index.js";
import { lz4Wasm, fflate } from "/target/browser-bench/peers.js";

const MB = 1e6;

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

/** Rounds to enough significant digits for comparison. */
const short = (value) => Number(value.toPrecision(4));

/** Returns a configuration of Pagepress as a contender; `close` ends its workers. */
async function pagepress(workers, { level, blockSize = 65536, contentChecksum = true }) {
  const compressor = await createCompressor({ backend: "cpu", workers });
  const place = workers === 0 ? "in place" : `${workers} workers`;
  const sum = contentChecksum ? "" : ", no checksum";
  return {
    name: `pagepress ${place}, ${level}, ${blockSize >> 10} KiB${sum}`,
    isShared: workers > 0,
    compress: (bytes) => compressor.compress(bytes, { level, blockSize, contentChecksum }),
    decompress: (packed) => compressor.decompress(packed),
    close: () => compressor.dispose(),
  };
}

/** Transforms `bytes` with a stream of the browser. */
async function transformed(bytes, transform) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(transform)).arrayBuffer());
}

const others = [
  { name: "lz4-wasm", compress: lz4Wasm.compress, decompress: lz4Wasm.decompress },
  { name: "fflate 1", compress: (bytes) => fflate.gzipSync(bytes, { level: 1 }), decompress: (packed) => fflate.gunzipSync(packed) },
  {
    name: "gzip of the browser",
    compress: (bytes) => transformed(bytes, new CompressionStream("gzip")),
    decompress: (packed) => transformed(packed, new DecompressionStream("gzip")),
  },
];

/** Returns 1, 2, 4, ... and the number of cores. */
function workerCounts() {
  const all = navigator.hardwareConcurrency;
  const counts = [];
  for (let n = 1; n < all; n *= 2) counts.push(n);
  return [...counts, all];
}

async function contenders() {
  const list = [];
  for (const blockSize of [undefined, 4096]) {
    for (const level of ["auto", "fast", "high"]) list.push(await pagepress(0, { level, blockSize }));
  }
  // Without a checksum, like lz4-wasm.
  list.push(await pagepress(0, { level: "auto", contentChecksum: false }));
  list.push(...others);
  for (const n of workerCounts()) {
    for (const level of ["auto", "fast"]) list.push(await pagepress(n, { level }));
  }
  return list;
}

function isSame(a, b) {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

function shuffled(list) {
  const order = [...list];
  for (let i = order.length - 1; i > 0; i -= 1) {
    const j = Math.floor(Math.random() * (i + 1));
    [order[i], order[j]] = [order[j], order[i]];
  }
  return order;
}

async function time(times, work) {
  // The garbage of other contenders must not be collected during this one.
  globalThis.gc?.();
  const begin = performance.now();
  const value = await work();
  times.push(performance.now() - begin);
  return value;
}

/** Measures all contenders in MB/s of uncompressed bytes: the median, and the best, which is robust on a busy machine. */
async function race(list, bytes, runs) {
  const entries = [];
  for (const one of list) {
    const packed = await one.compress(bytes);
    if (!isSame(await one.decompress(packed), bytes)) throw new Error(`${one.name}: the content differs`);
    entries.push({ one, ratio: bytes.length / packed.length, there: [], back: [] });
  }
  for (let i = 0; i < runs; i += 1) {
    // A new order in each round, because the previous contender may still free memory during a measurement.
    for (const { one, there, back } of shuffled(entries)) {
      // Restarts workers, which end after an idle time.
      if (one.isShared) await one.decompress(await one.compress(bytes));
      const packed = await time(there, () => one.compress(bytes));
      await time(back, () => one.decompress(packed));
    }
  }
  const rate = (ms) => bytes.length / MB / (ms / 1000);
  const rates = (times) => ({ median: rate(median(times)), best: rate(Math.min(...times)) });
  return entries.map(({ one, ratio, there, back }) => ({ name: one.name, ratio, compress: rates(there), decompress: rates(back) }));
}

/** Benchmarks the first `maxBytes` of each of `files` and passes a line per contender to `note`. */
async function benchPeers({ files, maxBytes, runs }, note) {
  const list = await contenders();
  for (const file of files) {
    const response = await fetch(file);
    if (!response.ok) throw new Error(`${file}: ${response.status}`);
    const bytes = new Uint8Array(await response.arrayBuffer()).slice(0, maxBytes);
    note({ file, n_bytes: bytes.length, runs, cores: navigator.hardwareConcurrency });
    const results = await race(list, bytes, runs);
    const [wasm, script] = ["lz4-wasm", "fflate 1"].map((name) => results.find((result) => result.name === name));
    for (const { name, ratio, compress, decompress } of results) {
      const over = (other, kind) => [short(compress[kind] / other.compress[kind]), short(decompress[kind] / other.decompress[kind])];
      note({
        name,
        ratio: short(ratio),
        compress_mbps: short(compress.median),
        decompress_mbps: short(decompress.median),
        to_lz4_wasm: over(wasm, "median"),
        best_to_lz4_wasm: over(wasm, "best"),
        to_fflate: over(script, "median"),
      });
    }
  }
  for (const { close } of list) await close?.();
}

addEventListener("message", async ({ data }) => {
  try {
    await benchPeers(data, (line) => postMessage({ line }));
    postMessage({ done: true });
  } catch (error) {
    postMessage({ error: String(error?.stack ?? error) });
  }
});
postMessage({ ready: true });
