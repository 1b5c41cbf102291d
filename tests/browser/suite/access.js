// Tests random access to frames in memory, in blobs and on a server.
import { compressSync, createCompressor, decompressSync, init, Lz4CompressionStream, openFrame, PagepressError } from "/dist/index.js";
import { check, rejects, same } from "./check.js";
import { kinds, mixed } from "./data.js";

/** Uploads `bytes` to the server and returns their URL. */
async function put(name, bytes) {
  const url = new URL(`/memory/${name}-${Math.random()}`, location.href);
  await fetch(url, { method: "PUT", body: bytes });
  return url;
}

/** Runs `work` and returns its value and its requests: the method, and the length of the range in bytes. */
async function watchRequests(work) {
  const { fetch } = globalThis;
  const requests = [];
  globalThis.fetch = (request, options) => {
    const [, start, end] = /bytes=(\d+)-(\d+)/.exec(options.headers?.get("range") ?? "") ?? [];
    requests.push([options.method ?? "GET", end - start + 1]);
    return fetch(request, options);
  };
  try {
    return [await work(), requests];
  } finally {
    globalThis.fetch = fetch;
  }
}

async function readsAnyPart() {
  await init();
  const content = mixed(65536, 4);
  const { length } = content;
  const ranges = [[0, 0], [0, 1], [65535, 2], [length - 1, 9], [length, 5], [length + 5, 5], [100_000, 700_000], [0, length]];
  for (const index of [true, false]) {
    const frame = compressSync(content, { index, blockSize: 16384 });
    const sources = [frame, frame.slice().buffer, new Blob([frame]), await put("file", frame), String(await put("file", frame))];
    for (const source of sources) {
      const file = await openFrame(source);
      check(file.hasIndex === index && file.byteLength === frame.length, `${file.hasIndex} ${file.byteLength}`);
      const parts = await Promise.all(ranges.map(([offset, count]) => file.read(offset, count)));
      ranges.forEach(([offset, count], i) => same(parts[i], content.subarray(offset, offset + count), `${offset}+${count}`));
      check((await file.contentLength()) === length, "length of the content");
    }
  }
}

async function readsOnlyNeededBlocks() {
  await init();
  const content = kinds.text(12_000_000);
  const frame = compressSync(content, { index: true });
  const url = await put("large", frame);
  const [file, opening] = await watchRequests(() => openFrame(url));
  // There are requests for the length, the end, and the header of the frame, which must agree with the index.
  check(opening.length === 3 && opening[1][1] <= 65536 && opening[2][1] <= 19, JSON.stringify(opening));
  const [part, reading] = await watchRequests(() => file.read(7_000_000, 1000));
  same(part, content.subarray(7_000_000, 7_001_000), "part");
  check(reading.length === 1 && reading[0][1] < 65536, JSON.stringify(reading));
  // Without an index the file is read once up to the requested position.
  const plain = await openFrame(await put("plain", compressSync(content)));
  const [, first] = await watchRequests(() => plain.read(1_000_000, 1000));
  const [, again] = await watchRequests(() => plain.read(900_000, 1000));
  const bytes = first.reduce((sum, [, n]) => sum + n, 0);
  check(bytes < frame.length / 2 && again.length === 1 && again[0][1] < 65536, JSON.stringify([first, again]));
}

async function supportsServersWithoutRanges() {
  await init();
  const content = kinds.memory(500_000);
  const frame = compressSync(content, { index: true });
  for (const query of ["whole", "secret"]) {
    const url = await put(query, frame);
    url.search = query;
    const file = await openFrame(url);
    same(await file.read(400_000, 50_000), content.subarray(400_000, 450_000), query);
  }
  const missing = await rejects(openFrame("/memory/missing"), "READ", PagepressError);
  check(missing.message.includes("404"), missing.message);
  await rejects(openFrame("http://localhost:1/"), "READ", PagepressError);
  await rejects(openFrame("http://"), "INVALID_ARGUMENT", PagepressError);
  await rejects(openFrame(5), "INVALID_ARGUMENT", PagepressError);
  const url = await put("changes", frame);
  const file = await openFrame(url);
  await fetch(url, { method: "PUT", body: compressSync(content) });
  const changed = await rejects(file.read(0, 10), "READ", PagepressError);
  check(changed.message.includes("changed"), changed.message);
}

async function reportsErrors() {
  await init();
  const content = kinds.text(300_000);
  await rejects(openFrame(content), "NOT_LZ4", PagepressError);
  await rejects(openFrame(new Uint8Array(0)), "TRUNCATED_FRAME", PagepressError);
  await rejects(openFrame(await put("empty", new Uint8Array(0))), "TRUNCATED_FRAME", PagepressError);
  const frame = compressSync(content, { index: true, blockChecksums: true });
  frame[40] ^= 1;
  const file = await openFrame(frame);
  await rejects(file.read(0, 10), "CHECKSUM_MISMATCH", PagepressError);
  same(await file.read(200_000, 10), content.subarray(200_000, 200_010), "a sound block");
  await rejects(file.read(-1, 10), "INVALID_ARGUMENT", PagepressError);
  await rejects(file.read(0, 2 ** 31), "INVALID_ARGUMENT", PagepressError);
  const reason = new Error("enough");
  const outcome = (work) => work.catch((error) => error);
  check((await outcome(file.read(0, 10, { signal: AbortSignal.abort(reason) }))) === reason, "an aborted read");
  check((await outcome(openFrame(frame, { signal: AbortSignal.abort(reason) }))) === reason, "aborted opening");
  const controller = new AbortController();
  const slow = outcome((await openFrame(await put("slow", frame))).read(200_000, 10, { signal: controller.signal }));
  controller.abort(reason);
  check((await slow) === reason, "a request that is aborted");
}

/** Builds a file in which one block contains the next, so that the index and sequential readers disagree on the content. */
async function comparesTheIndexWithTheFile() {
  await init();
  const [blockSize, headerBytes, sizeBytes] = [16384, 7, 4];
  const content = kinds.random(8 * blockSize);
  const options = { index: true, blockSize, contentChecksum: false, backend: "cpu" };
  const stream = new Blob([content]).stream().pipeThrough(new Lz4CompressionStream(options));
  const frame = new Uint8Array(await new Response(stream).arrayBuffer());
  const view = new DataView(frame.buffer);
  const [at, stored] = [headerBytes + 2 * (sizeBytes + blockSize), (size) => (0x80000000 | size) >>> 0];
  check(view.getUint32(at, true) === stored(blockSize), "the third block is stored");
  view.setUint32(at, stored(2 * blockSize + sizeBytes), true);
  check(decompressSync(frame).length === content.length + sizeBytes, "what other programs read");
  for (const source of [frame, new Blob([frame])]) {
    const file = await openFrame(source);
    same(await file.read(20_000, 10), content.subarray(20_000, 20_010), "a block before");
    // According to the index these are separate blocks.
    for (const offset of [50_000, 100_000]) await rejects(file.read(offset, 10), "INVALID_FRAME", PagepressError);
  }
}

async function writesIndexes() {
  const cpu = await createCompressor({ backend: "cpu" });
  const content = mixed(65536, 2);
  const plain = await cpu.compress(content);
  const indexed = await cpu.compress(content, { index: true });
  same(indexed.subarray(0, plain.length), plain, "the frame before the index");
  check(indexed.length > plain.length && indexed.length < plain.length + 1000, `${indexed.length} bytes`);
  same(await cpu.decompress(indexed), content, "content");
  await cpu.dispose();
}

export const cases = [
  ["reads any part of a frame", readsAnyPart],
  ["reads only the blocks that are needed", readsOnlyNeededBlocks],
  ["works with servers without ranges", supportsServersWithoutRanges],
  ["errors have codes", reportsErrors],
  ["detects indexes that disagree with the file", comparesTheIndexWithTheFile],
  ["writes indexes", writesIndexes],
];
