// Tests files of other writers: frames without a content size or with a wrong one, and several frames in a file.
import { createCompressor, decompressSync, PagepressError } from "/dist/index.js";
import { check, rejects, same } from "./check.js";
import { join, kinds, mixed } from "./data.js";

const HEADER_BYTES = 15;
const SKIPPABLE = new Uint8Array([0x5c, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);

const joined = (...parts) => join(parts);

/** The two ways to decompress. */
const ways = (from) => [
  ["decompress", (bytes, options) => from.decompress(bytes, options)],
  ["decompressSync", async (bytes, options) => decompressSync(bytes, options)],
];

/** Returns `frame` with other flags and content size; finds the header checksum by trial. */
async function withHeader(frame, flags, size) {
  const field = new Uint8Array(size === null ? 0 : 8);
  if (size !== null) new DataView(field.buffer).setBigUint64(0, size, true);
  const start = joined(frame.subarray(0, 4), [flags, frame[5]], field);
  for (let sum = 0; sum < 256; sum += 1) {
    const made = joined(start, [sum], frame.subarray(HEADER_BYTES));
    const wrong = await Promise.resolve().then(() => decompressSync(made.subarray(0, start.length + 1))).catch((error) => error);
    if (wrong.code !== "CHECKSUM_MISMATCH") return made;
  }
  throw new Error("no sum fits the header");
}

/** Returns the length of the largest array that `work` allocates. */
async function largestArray(work) {
  const { Uint8Array: own } = globalThis;
  let largest = 0;
  globalThis.Uint8Array = new Proxy(own, {
    construct(target, args, as) {
      if (typeof args[0] === "number") largest = Math.max(largest, args[0]);
      return Reflect.construct(target, args, as === globalThis.Uint8Array ? target : as);
    },
  });
  try {
    await work();
  } finally {
    globalThis.Uint8Array = own;
  }
  return largest;
}

async function findsWrongSizes() {
  const cpu = await createCompressor({ backend: "cpu", workers: 0 });
  const bytes = mixed(65536, 4);
  const frame = await cpu.compress(bytes);
  const n = bytes.length;
  same(await withHeader(frame, frame[4], BigInt(n)), frame, "the header again");
  for (const size of [0, 1, n - 1, n + 1, 3 * n, 1000 * frame.length, 2 ** 30]) {
    const lying = await withHeader(frame, frame[4], BigInt(size));
    for (const [name, decompress] of ways(cpu)) {
      const largest = await largestArray(async () => {
        const error = await rejects(decompress(lying), "CONTENT_SIZE_MISMATCH", PagepressError);
        check(error.message.includes(`${size}`) && error.message.includes(`${n}`), `${name}: ${error.message}`);
      });
      check(largest <= 255 * frame.length, `${name}: an array of ${largest} for ${frame.length} bytes that say ${size}`);
    }
  }
  for (const size of [2n ** 30n + 1n, 2n ** 53n, 2n ** 64n - 1n]) {
    const lying = await withHeader(frame, frame[4], size);
    for (const [, decompress] of ways(cpu)) await rejects(decompress(lying), "OUTPUT_LIMIT", PagepressError);
  }
  for (const [, decompress] of ways(cpu)) {
    same(await decompress(frame, { maxOutputSize: n }), bytes, "the limit itself");
    await rejects(decompress(frame, { maxOutputSize: n - 1 }), "OUTPUT_LIMIT", PagepressError);
  }
  await cpu.dispose();
}

async function readsSeveral() {
  const cpu = await createCompressor({ backend: "cpu", workers: 0 });
  const [a, b, text] = [mixed(65536, 6), kinds.text(300_000), kinds.text(60_000)];
  const [first, second] = [await cpu.compress(a, { blockSize: 4096 }), await cpu.compress(b, { blockChecksums: true })];
  const unsized = await withHeader(first, first[4] & ~8, null);
  // A legacy frame is a magic number and blocks, each preceded by its size.
  const one = await cpu.compress(text, { contentChecksum: false });
  const legacy = joined([0x02, 0x21, 0x4c, 0x18], one.subarray(HEADER_BYTES, one.length - 4));
  const files = [
    ["no content size", [unsized], [a]],
    ["two frames", [first, second], [a, b]],
    ["sizes in some", [unsized, second, unsized, first], [a, b, a, a]],
    ["skippable ones between", [SKIPPABLE, first, SKIPPABLE, SKIPPABLE, second, SKIPPABLE], [a, b]],
    ["legacy ones between", [first, legacy, second, legacy, legacy, SKIPPABLE, unsized], [a, text, b, text, text, a]],
    ["a frame of nothing", [await cpu.compress(new Uint8Array()), second], [b]],
    ["nothing but that", [await cpu.compress(new Uint8Array())], []],
  ];
  for (const [what, frames, contents] of files) {
    const [file, expected] = [joined(...frames), joined(...contents)];
    for (const [name, decompress] of ways(cpu)) {
      const content = await decompress(file);
      same(content, expected, `${what}, ${name}`);
      check(content.buffer.byteLength === content.length, `${what}, ${name}: lies in a larger buffer`);
      if (expected.length === 0) continue;
      await rejects(decompress(file, { maxOutputSize: expected.length - 1 }), "OUTPUT_LIMIT", PagepressError);
    }
  }
  await cpu.dispose();
}

/** Frames that declare up to 1 MiB are decompressed in one call of the module, longer ones in steps. */
async function readsAroundOneCall() {
  const cpu = await createCompressor({ backend: "cpu", workers: 0 });
  const most = 2 ** 20;
  const text = kinds.text(most + 1);
  for (const length of [most - 1, most, most + 1]) {
    const bytes = text.subarray(0, length);
    for (const options of [{}, { contentChecksum: false }, { blockSize: 4096 }, { blockSize: 5001 }]) {
      const frame = await cpu.compress(bytes, options);
      const wrong = frame.slice();
      wrong[frame.length - 1] ^= 1;
      for (const [name, decompress] of ways(cpu)) {
        const what = `${length} bytes, ${name}`;
        same(await decompress(frame), bytes, what);
        const into = new Uint8Array(length + 5);
        same(await decompress(frame, { into }), bytes, `${what}, into`);
        await rejects(decompress(frame, { into: into.subarray(6) }), "OUTPUT_LIMIT", PagepressError);
        const code = options.contentChecksum === false ? "INVALID_FRAME" : "CHECKSUM_MISMATCH";
        await rejects(decompress(wrong), code, PagepressError);
      }
    }
  }
  // The first frame declares little, but more follows than a call returns.
  const [little, much] = [text.subarray(0, 100), new Uint8Array(17 * most)];
  const file = joined(await cpu.compress(little), await cpu.compress(much));
  for (const [name, decompress] of ways(cpu)) same(await decompress(file), joined(little, much), `much behind little, ${name}`);
  await cpu.dispose();
}

export const cases = [
  ["wrong content sizes are detected", findsWrongSizes],
  ["several frames of all kinds are read", readsSeveral],
  ["frames about as long as one call reads", readsAroundOneCall],
];
