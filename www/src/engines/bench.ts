// Benchmarks an engine: opens it, warms it up, then times each run.
import type { Control } from "../rpc/serve";
import type { BenchOrder, BenchProgress, BenchResult, Run } from "./calls";
import type { Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

/** Opens an engine. Imports are dynamic, so that the other engines are not loaded. */
async function open({ engine, blockSize, level, allowSoftware }: BenchOrder): Promise<Engine> {
  if (engine === "gzip") return (await import("./gzip")).openGzip();
  if (engine === "lz4-wasm") return (await import("./lz4wasm")).openLz4Wasm();
  if (engine === "fflate-1") return (await import("./fflate")).openFflate(1);
  if (engine === "fflate-6") return (await import("./fflate")).openFflate(6);
  const { openPagepress } = await import("./pagepress");
  if (engine === "gpu") return openPagepress({ backend: "webgpu", allowSoftware }, blockSize, level);
  if (engine === "cpu") return openPagepress({ backend: "cpu" }, blockSize, level);
  return openPagepress({ backend: "cpu", workers: 0 }, blockSize, engine === "fast" ? "fast" : level);
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const start = performance.now();
  const value = await work();
  return [value, performance.now() - start];
}

function equal(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false;
  for (let i = 0; i < a.length; i += 1) if (a[i] !== b[i]) return false;
  return true;
}

/** Benchmarks one engine. */
export async function bench(
  order: BenchOrder,
  { progress, signal }: Control<BenchProgress>,
): Promise<BenchResult> {
  progress({ phase: "opening" });
  const input = new Uint8Array(await order.data.arrayBuffer());
  const [engine, startMs] = await timed(() => open(order));
  progress({ phase: "warming" });
  const roundTrip = async (bytes: Bytes): Promise<{ run: Run; packed: Bytes; back: Bytes; timing: BenchResult["timing"] }> => {
    signal.throwIfAborted();
    const [packed, compressMs] = await timed(() => engine.compress(bytes));
    const compress = engine.timing();
    const [back, decompressMs] = await timed(() => engine.decompress(packed, bytes.length));
    const decompress = engine.timing();
    const timing = compress && decompress && { compress, decompress };
    return { run: { compressMs, decompressMs }, packed, back, timing };
  };
  const bytes = Math.min(input.length, engine.warmUpBytes);
  const first = await roundTrip(input.subarray(0, bytes));
  const warm = { startMs, ...first.run, bytes };
  progress({ phase: "warm", warm });

  const runs: Run[] = [];
  const begin = performance.now();
  let last = first;
  let verified = true;
  while (runs.length < order.runs && (runs.length === 0 || performance.now() - begin < order.budgetMs)) {
    last = await roundTrip(input);
    runs.push(last.run);
    // Engines are deterministic, so one check is enough.
    if (runs.length === 1) verified = equal(last.back, input);
    progress({ phase: "run", run: last.run });
  }
  const { timing, packed } = last;
  const { backend } = engine;
  const result = { detail: engine.detail(), inputBytes: input.length, outputBytes: packed.length, warm, runs, verified, timing, backend };
  await engine.close();
  return result;
}
