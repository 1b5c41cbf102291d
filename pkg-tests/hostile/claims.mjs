// Tests input that claims, or decompresses to, more than the memory limit of 256 MiB: each is a typed error, and the next
// valid call works. Run by `hostile.mjs` with `--wasm-max-mem-pages=4096`.
import { strict as assert } from "node:assert";
import { outcomeOf, pagepress, textOf } from "./check.mjs";

const { compressSync, createCompressor, decompressSync } = pagepress;
const ROUNDS = 8;

const compressor = await createCompressor({ backend: "cpu", workers: 0 });
/** Content for blocks of 4 MiB, which need a part of the memory. */
const content = textOf(6_000_000, 5);
const options = { blockSize: 2 ** 22 };
const frame = compressSync(content, options);

/** Returns the extra bytes after a token for a length of 15 or more. */
const extended = (length) => [...new Uint8Array(Math.floor(length / 255)).fill(255), length % 255];

/** Returns a block of literals and a match of `length` bytes. */
function bomb(literals, length) {
  const start = Uint8Array.from([0xff, ...extended(literals - 15)]);
  const end = Uint8Array.from([1, 0, ...extended(length - 19), 0x50, 1, 2, 3, 4, 5]);
  return new Uint8Array(Buffer.concat([start, new Uint8Array(literals).fill(7), end]));
}

const prefixed = (block, size) => Uint8Array.from([size, size >>> 8, size >>> 16, size >>> 24, ...block].map((n) => n & 255));
const large = bomb(100, 14_000_000);
const hostile = {
  "a block of 900 MB": { bytes: bomb(20_000_000, 900_000_000), format: "block" },
  "a block that claims 1 GiB": { bytes: prefixed(large, 2 ** 30), format: "size-prefixed" },
  "a block that claims 4 GiB": { bytes: prefixed(large, 2 ** 32 - 1), format: "size-prefixed" },
  "input larger than the memory": { bytes: new Uint8Array(300_000_000), format: "block" },
};
const seen = {};
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, { bytes, ...format }] of Object.entries(hostile)) {
    for (const work of [() => compressor.decompress(bytes, format), async () => decompressSync(bytes, format)]) {
      // After a trap, which also returns an error with a code, the instance is replaced.
      const { code } = await outcomeOf(work, ["INTERNAL"]);
      assert.ok(code, `${name}: no error`);
      (seen[name] ??= new Set()).add(code);
      assert.ok(Buffer.compare(compressSync(content, options), frame) === 0, `after ${name}: compressSync`);
      assert.ok(Buffer.compare(await compressor.decompress(frame), content) === 0, `after ${name}: decompress`);
    }
  }
}
for (const call of [() => compressor.compressPages(new Uint8Array(280_000_000)), () => compressor.compress(new Uint8Array(300_000_000))]) {
  const { value, code } = await outcomeOf(call);
  assert.ok(value || code === "OUT_OF_MEMORY", code);
}
await compressor.dispose();
console.log(Object.entries(seen).map(([name, codes]) => `${name}: ${[...codes].join(", ")}`).join("; "));
