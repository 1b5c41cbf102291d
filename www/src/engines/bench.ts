// Runs the rounds of one engine: opens and warms it up, then times a compression and a decompression per round.
import { measure } from "../measure/measure";
import type { Control } from "../rpc/serve";
import type { Closed, EngineId, RaceOptions, Round, Warm } from "./calls";
import type { Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

let opened: Engine | null = null;

/** Opens an engine. Imports are dynamic, so that the other engines are not loaded. */
async function openEngine(engine: EngineId, { blockSize, level, allowSoftware }: RaceOptions): Promise<Engine> {
  if (engine === "gzip") return (await import("./gzip")).openGzip();
  if (engine === "lz4-wasm") return (await import("./lz4wasm")).openLz4Wasm();
  if (engine === "foxglove") return (await import("./foxglove")).openFoxglove();
  if (engine === "fflate") return (await import("./fflate")).openFflate();
  if (engine === "zstd") return (await import("./zstd")).openZstd();
  const { openPagepress } = await import("./pagepress");
  if (engine === "gpu") return openPagepress({ backend: "webgpu", allowSoftware }, blockSize, level);
  if (engine === "cpu") return openPagepress({ backend: "cpu" }, blockSize, level);
  return openPagepress({ backend: "cpu", workers: 0 }, blockSize, level);
}

function current(): Engine {
  if (!opened) throw new Error("no engine is open");
  return opened;
}

async function bytesOf(data: Blob): Promise<Bytes> {
  return new Uint8Array(await data.arrayBuffer());
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** Opens the engine of this worker and runs it once. */
export async function open({ engine, options, data }: { engine: EngineId; options: RaceOptions; data: Blob }): Promise<Warm> {
  const start = performance.now();
  opened = await openEngine(engine, options);
  const startMs = performance.now() - start;
  const bytes = (await bytesOf(data)).subarray(0, opened.warmUpBytes);
  const begin = performance.now();
  const packed = await opened.compress(bytes);
  const middle = performance.now();
  await opened.decompress(packed, bytes.length);
  return { startMs, compressMs: middle - begin, decompressMs: performance.now() - middle, bytes: bytes.length };
}

/** Times one compression and one decompression, each repeated if it is short. */
export async function round({ data }: { data: Blob }, { signal }: Control<never>): Promise<Round> {
  const engine = current();
  const input = await bytesOf(data);
  const packed = engine.compresses
    ? await measure(() => engine.compress(input), signal)
    : { value: await engine.compress(input), milliseconds: null };
  const compress = engine.timing();
  const back = await measure(() => engine.decompress(packed.value, input.length), signal);
  const decompress = engine.timing();
  return {
    run: { compressMs: packed.milliseconds, decompressMs: back.milliseconds },
    outputBytes: packed.value.length,
    verified: equal(back.value, input),
    timing: compress && decompress && { compress, decompress },
  };
}

/** Closes the engine and describes it. */
export async function close(): Promise<Closed> {
  const engine = current();
  const closed = { detail: engine.detail(), backend: engine.backend };
  await engine.close();
  opened = null;
  return closed;
}
