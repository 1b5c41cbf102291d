// Measures both engines over a range of sizes, and the choice of `auto` for each size.
import type { Compressor, Engine } from "pagepress";
import type { Control } from "../rpc/serve";
import type { AutoPick, SweepPoint, SweepResult } from "./calls";
import { compressorFor } from "./compressors";
import { makeSample } from "./samples";

type Bytes = Uint8Array<ArrayBuffer>;

const LEAST_BYTES = 4096;
const STEP = 4;
/** Smaller files are not repeated to larger sizes, as that is not representative: a sample is used. */
const WORTH_TILING_BYTES = 65536;
/** Limits per size: the number of runs, their time in total, and the time of a run after which larger sizes are skipped. */
const RUNS = 3;
const SIZE_BUDGET_MS = 1500;
const LONGEST_MS = 4000;

/** Measures each size up to `mostBytes`, in ascending order. */
export async function sweep(
  { file, mostBytes, allowSoftware }: { file: Blob | null; mostBytes: number; allowSoftware: boolean },
  control: Control<SweepPoint>,
): Promise<SweepResult> {
  const content = await tiled(file, mostBytes, control.signal);
  const engines: [Engine, Compressor][] = [];
  let withoutGpu: string | null = null;
  try {
    engines.push(["webgpu", await compressorFor({ backend: "webgpu", allowSoftware })]);
  } catch (error) {
    withoutGpu = error instanceof Error ? error.message : String(error);
  }
  engines.push(["cpu", await compressorFor({ backend: "cpu", allowSoftware: false })]);
  // Warm-up: compiles kernels and starts workers.
  for (const [, compressor] of engines) await timeSize(compressor, content.subarray(0, 1 << 20), control.signal);

  const points: SweepPoint[] = [];
  const stopped: SweepResult["stopped"] = [];
  for (let bytes = LEAST_BYTES; bytes <= mostBytes; bytes *= STEP) {
    for (const [engine, compressor] of engines) {
      if (stopped.some((one) => one.engine === engine)) continue;
      const times = await timeSize(compressor, content.subarray(0, bytes), control.signal);
      const point = { engine, bytes, ...times };
      points.push(point);
      control.progress(point);
      if (Math.max(times.compressMs, times.decompressMs) * STEP > LONGEST_MS) stopped.push({ engine, bytes });
    }
  }
  return { points, ...(await askAuto(content, mostBytes, control.signal)), withoutGpu, stopped };
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

/** Returns the medians of a few runs. */
async function timeSize(
  compressor: Compressor,
  bytes: Bytes,
  signal: AbortSignal,
): Promise<{ compressMs: number; decompressMs: number }> {
  const compress: number[] = [];
  const decompress: number[] = [];
  const begin = performance.now();
  while (compress.length === 0 || (compress.length < RUNS && performance.now() - begin < SIZE_BUDGET_MS)) {
    const start = performance.now();
    const packed = await compressor.compress(bytes, { signal });
    const middle = performance.now();
    await compressor.decompress(packed, { signal, maxOutputSize: bytes.length, transfer: true });
    compress.push(middle - start);
    decompress.push(performance.now() - middle);
  }
  return { compressMs: median(compress), decompressMs: median(decompress) };
}

function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? NaN;
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
