// Input that claims, or becomes, more than a memory of 256 MiB holds: a typed error each time, and the next honest call works.
// Run by `hostile.mjs` with `--wasm-max-mem-pages=4096`.
import { strict as assert } from "node:assert";
import { outcomeOf, pagepress, textOf } from "./check.mjs";

const { compressSync, createCompressor, decompressSync } = pagepress;
const ROUNDS = 12;

const content = textOf(100_000, 5);
const compressor = await createCompressor({ backend: "cpu", workers: 0 });

/** A block whose one match goes on for `length` bytes. */
function bomb(length) {
  const more = new Uint8Array(Math.floor(length / 255)).fill(255);
  return Uint8Array.from([0x1f, 7, 1, 0, ...more, 9, 0x50, 1, 2, 3, 4, 5]);
}

const prefixed = (block, size) => Uint8Array.from([size, size >>> 8, size >>> 16, size >>> 24, ...block].map((n) => n & 255));
const large = bomb(900_000_000 / 64);
const hostile = {
  "a block of 900 MB": { bytes: bomb(60_000_000 * 15), options: { format: "block" } },
  "a block that claims 1 GiB": { bytes: prefixed(large, 2 ** 30), options: { format: "size-prefixed" } },
  "a block that claims 4 GiB": { bytes: prefixed(large, 2 ** 32 - 1), options: { format: "size-prefixed" } },
  "input larger than the memory": { bytes: new Uint8Array(300_000_000), options: { format: "block" } },
};
const seen = {};
for (let round = 0; round < ROUNDS; round += 1) {
  for (const [name, { bytes, options }] of Object.entries(hostile)) {
    for (const work of [() => compressor.decompress(bytes, options), async () => decompressSync(bytes, options)]) {
      // A trap is replaced by a new instance, and is an error with a code too.
      const { code } = await outcomeOf(work, ["ENGINE"]);
      assert.ok(code, `${name}: no error`);
      (seen[name] ??= new Set()).add(code);
      assert.deepEqual(decompressSync(compressSync(content)), content);
      assert.deepEqual(await compressor.decompress(await compressor.compress(content)), content);
    }
  }
}
for (const call of [() => compressor.compressPages(new Uint8Array(280_000_000)), () => compressor.compress(new Uint8Array(300_000_000))]) {
  const { value, code } = await outcomeOf(call);
  assert.ok(value || code === "OUT_OF_MEMORY", code);
}
await compressor.dispose();
console.log(Object.entries(seen).map(([name, codes]) => `${name}: ${[...codes].join(", ")}`).join("; "));
