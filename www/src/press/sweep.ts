// Measures both engines over a range of sizes, and the choice of `auto` for each size.
import { createCompressor } from "pagepress";
import type { Compressor } from "pagepress";
import { interleaved, measure } from "../measure/measure";
import { isBusy, spreadsOf, type Times } from "../measure/stats";
import type { Control } from "../rpc/serve";
import type { AutoPick, SweepEngine, SweepPoint, SweepResult } from "./calls";
import { compressorFor } from "./compressors";
import { makeSample } from "./samples";

type Bytes = Uint8Array<ArrayBuffer>;

const LEAST_BYTES = 4096;
const STEP = 4;
/** Smaller files are not repeated to larger sizes, as that is not representative: a sample is used. */
const WORTH_TILING_BYTES = 65536;
/** Rounds per size. */
const ROUNDS = 3;
/** Times in milliseconds: of an engine at one size, after which it runs no more rounds, and of a round, after which larger
 * sizes are skipped. */
const SIZE_BUDGET_MS = 1500;
const LONGEST_MS = 4000;

/** Measures each size up to `mostBytes`, in ascending order. */
export async function sweep(
  { file, mostBytes, allowSoftware }: { file: Blob | null; mostBytes: number; allowSoftware: boolean },
  control: Control<SweepPoint>,
): Promise<SweepResult> {
  const content = await tiled(file, mostBytes, control.signal);
  const { engines, withoutGpu } = await openEngines(allowSoftware);
  // Warm-up: compiles kernels and starts workers.
  for (const [, compressor] of engines) await roundTrip(compressor, content.subarray(0, 1 << 20), control.signal);

  const points: SweepPoint[] = [];
  const stopped: SweepResult["stopped"] = [];
  for (let bytes = LEAST_BYTES; bytes <= mostBytes; bytes *= STEP) {
    const going = engines.filter(([engine]) => !stopped.some((one) => one.engine === engine));
    for (const point of await measureSize(going, content.subarray(0, bytes), control.signal)) {
      points.push(point);
      control.progress(point);
      if (Math.max(point.compressMs, point.decompressMs) * STEP > LONGEST_MS) stopped.push({ engine: point.engine, bytes });
    }
  }
  return { points, ...(await askAuto(content, mostBytes, control.signal)), withoutGpu, stopped };
}

/** Opens the engines to compare: GPU and CPU or, without a GPU, the CPU with workers and on one thread. */
async function openEngines(allowSoftware: boolean): Promise<{ engines: [SweepEngine, Compressor][]; withoutGpu: string | null }> {
  const cpu: [SweepEngine, Compressor] = ["cpu", await compressorFor({ backend: "cpu", allowSoftware: false })];
  try {
    return { engines: [["webgpu", await compressorFor({ backend: "webgpu", allowSoftware })], cpu], withoutGpu: null };
  } catch (error) {
    const withoutGpu = error instanceof Error ? error.message : String(error);
    oneThread ??= createCompressor({ backend: "cpu", workers: 0 });
    return { engines: [cpu, ["one", await oneThread]], withoutGpu };
  }
}

/** The CPU without workers, opened on first use. */
let oneThread: Promise<Compressor> | undefined;

async function roundTrip(compressor: Compressor, bytes: Bytes, signal: AbortSignal): Promise<Times> {
  const packed = await measure(() => compressor.compress(bytes, { signal }), signal);
  const options = { signal, maxOutputSize: bytes.length };
  const back = await measure(() => compressor.decompress(packed.value, options), signal);
  return { compressMs: packed.milliseconds, decompressMs: back.milliseconds };
}

/** Measures all engines at one size, in rounds of random order. */
async function measureSize(engines: [SweepEngine, Compressor][], bytes: Bytes, signal: AbortSignal): Promise<SweepPoint[]> {
  const runs = new Map<SweepEngine, Times[]>(engines.map(([engine]) => [engine, []]));
  const spent = new Map<SweepEngine, number>();
  await interleaved(
    engines,
    ROUNDS,
    async ([engine, compressor]) => {
      const start = performance.now();
      runs.get(engine)?.push(await roundTrip(compressor, bytes, signal));
      spent.set(engine, (spent.get(engine) ?? 0) + performance.now() - start);
    },
    ([engine]) => (spent.get(engine) ?? 0) < SIZE_BUDGET_MS,
  );
  return engines.map(([engine]) => {
    const { compress, decompress } = spreadsOf(runs.get(engine) ?? []);
    return {
      engine,
      bytes: bytes.length,
      compressMs: compress.median,
      decompressMs: decompress.median,
      best: { compressMs: compress.least, decompressMs: decompress.least },
      isBusy: isBusy(compress) || isBusy(decompress),
    };
  });
}

/**
 * Returns the engine that `auto` chooses for each size. Without a GPU one call is enough, as the choice is always the
 * CPU.
 */
async function askAuto(
  content: Bytes,
  mostBytes: number,
  signal: AbortSignal,
): Promise<Pick<SweepResult, "picks" | "calibration">> {
  const auto = await compressorFor({ backend: "auto", allowSoftware: false });
  const { calibration } = await auto.capabilities();
  const picks: AutoPick[] = [];
  for (let bytes = LEAST_BYTES; bytes <= mostBytes; bytes *= STEP) {
    signal.throwIfAborted();
    if (auto.backend.engine === "webgpu" || picks.length === 0) await auto.compress(content.subarray(0, bytes), { signal });
    const { engine, reason } = auto.lastTiming ?? auto.backend;
    picks.push({ bytes, engine, reason });
  }
  return { picks, calibration };
}

/** Returns `length` bytes of the file, repeated. Blocks are independent, so repeating does not raise the ratio. */
async function tiled(file: Blob | null, length: number, signal: AbortSignal): Promise<Bytes> {
  const blob =
    file && file.size >= WORTH_TILING_BYTES
      ? file.slice(0, length)
      : await makeSample({ sample: "memory", bytes: Math.min(length, 16 << 20) }, { signal, progress: () => undefined });
  const content = new Uint8Array(length);
  content.set(new Uint8Array(await blob.arrayBuffer()));
  for (let have = blob.size; have < length; have *= 2) content.copyWithin(have, 0, Math.min(have, length - have));
  return content;
}
