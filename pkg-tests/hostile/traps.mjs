// Tests a module that traps repeatedly with a memory limit of 256 MiB: the next valid call works, and memory does not grow.
// Run by `hostile.mjs` with `--expose-gc --wasm-max-mem-pages=4096`. The argument is the number of traps.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import binaryen from "binaryen";
import { cpuGlue as cpu } from "../../dist/internals.js";
import { checkMemory, memoryInUse, outcomeOf, pagepress, textOf } from "./check.mjs";

const { compressSync, createCompressor, decompressSync, openFrame } = pagepress;
/** The first input byte at which the patched modules trap. */
const POISON = 0xee;
/** The output limit of a raw block at which they trap. */
const POISONED_LIMIT = 12_345;
const nTraps = Number(process.argv[2]);
const file = (name) => new URL(`../../dist/${name}_bg.wasm`, import.meta.url);

/**
 * Patches functions of the module to trap when the byte at the address in parameter `at` is the poison, or when parameter
 * `limit` is the poisoned limit. The memory of the call's arguments is then not freed.
 */
async function poisoned(name, exports) {
  const module = binaryen.readBinary(await readFile(file(name)));
  const { BulkMemory, Multivalue, MutableGlobals, NontrappingFPToInt, ReferenceTypes, SignExt, SIMD128 } = binaryen.Features;
  module.setFeatures(BulkMemory | Multivalue | MutableGlobals | NontrappingFPToInt | ReferenceTypes | SignExt | SIMD128);
  const I = binaryen.i32;
  for (const [exported, { at, limit }] of Object.entries(exports)) {
    const { value } = binaryen.getExportInfo(module.getExport(exported));
    const made = binaryen.Function(module.getFunction(value));
    const isPoisoned =
      limit === undefined
        ? module.i32.eq(module.i32.load8_u(0, 1, module.local.get(at, I), "0"), module.i32.const(POISON))
        : module.f64.eq(module.local.get(limit, binaryen.f64), module.f64.const(POISONED_LIMIT));
    const trap = module.if(isPoisoned, module.unreachable());
    made.body = module.block(null, [trap, made.body], binaryen.getExpressionType(made.body));
  }
  const bytes = module.emitBinary();
  module.dispose();
  return bytes;
}

const modules = {
  cpu: poisoned("cpu", { decompress: { limit: 3 }, frameencoder_push: { at: 1 }, compressPages: { at: 0 }, pagedecoder_new: { at: 1 } }),
  seek: poisoned("seek", { framemap_supply: { at: 1 } }),
};
const alone = await createCompressor({ backend: "cpu", workers: 0, modules });
const pool = await createCompressor({ backend: "cpu", workers: 2, modules });
const content = textOf(300_000, 1);
const poison = new Uint8Array(2_000_000).fill(POISON);
const frame = compressSync(content, { index: true });
const file0 = await openFrame(frame, { modules });

/** Number of objects freed after their instance was replaced, which would free an object of the new instance. */
let nStale = 0;
const { free: freeEncoder } = cpu.FrameEncoder.prototype;
for (const { prototype } of [cpu.FrameEncoder, cpu.FrameDecoder, cpu.PageDecoder]) {
  const { free } = prototype;
  prototype.free = function () {
    const current = new cpu.FrameEncoder(65536, 0, false, false, false);
    if (this.__wbg_inst !== current.__wbg_inst) nStale += 1;
    freeEncoder.call(current);
    free.call(this);
  };
}

/** Calls that trap. */
const hostile = [
  () => alone.decompress(poison, { format: "block", maxOutputSize: POISONED_LIMIT }),
  async () => decompressSync(poison, { format: "size-prefixed", maxOutputSize: POISONED_LIMIT }),
  () => alone.compress(poison),
  async () => compressSync(poison),
  () => alone.compressPages(poison),
  () => alone.decompressPages({ packed: poison, table: Uint32Array.of(POISON, 0), pageSize: 4096, byteLength: 4096 }),
  () => openFrame(poison, { modules }),
  () => pool.compress(poison),
  () => pool.compressPages(poison),
];

/** Valid calls, which work after any trap. */
const honest = [
  async () => assert.deepEqual(await alone.decompress(await alone.compress(content)), content),
  async () => assert.deepEqual(decompressSync(compressSync(content)), content),
  async () => assert.deepEqual(await alone.decompressPages(await alone.compressPages(content)), content),
  async () => assert.deepEqual(await file0.read(100_000, 5000), content.subarray(100_000, 105_000)),
  async () => assert.deepEqual(await (await openFrame(frame, { modules })).read(5, 7), content.subarray(5, 12)),
  async () => assert.deepEqual(await pool.decompress(await pool.compress(content)), content),
];

/** Makes calls that trap, each followed by a valid call. */
async function run(n) {
  for (let i = 0; i < n; i += 1) {
    const work = hostile[i % hostile.length];
    const { code } = await outcomeOf(work, ["INTERNAL"]);
    assert.equal(code, "INTERNAL", `${work} gave ${code}`);
    await honest[i % honest.length]();
  }
}

// Sessions of an instance that trapped in another call fail with a code, and the stream's compressor keeps working.
const stream = new pagepress.Lz4CompressionStream({ compressor: alone });
const writer = stream.writable.getWriter();
for (const promise of [writer.write(content), writer.closed]) promise.catch(() => undefined);
await new Promise((resolve) => setTimeout(resolve, 50));
await outcomeOf(hostile[1], ["INTERNAL"]);
const ended = await outcomeOf(() => Promise.all([writer.close(), new Response(stream.readable).arrayBuffer()]), ["INTERNAL"]);
assert.equal(ended.code, "INTERNAL");
for (const work of honest) await work();

const warm = Math.min(100, nTraps);
await run(warm);
const before = await memoryInUse();
await run(nTraps - warm);
const after = await memoryInUse();
for (const compressor of [alone, pool]) await compressor.dispose();
assert.equal(nStale, 0, "objects of an instance that stopped were freed in the next");
console.log(JSON.stringify({ nTraps, ...checkMemory(before, after) }));
