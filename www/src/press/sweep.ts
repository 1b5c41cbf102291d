// Times both engines over sizes, and asks `auto` what it takes for each.
import type { Compressor, Engine } from "pagepress";
import type { Control } from "../rpc/serve";
import type { AutoPick, SweepPoint, SweepResult } from "./calls";
import { compressorFor } from "./compressors";
import { makeSample } from "./samples";

type Bytes = Uint8Array<ArrayBuffer>;

const LEAST_BYTES = 4096;
const STEP = 4;
/** Less content than this says little about sizes above it: a sample takes its place. */
const WORTH_TILING_BYTES = 65536;
/** Runs of one size, within so much time; and how long one may take for a larger size to be begun. */
const RUNS = 3;
const SIZE_BUDGET_MS = 1500;
const LONGEST_MS = 4000;

/** Times of each size up to `mostBytes`, the smallest first. */
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
  // Compiles kernels and starts workers.
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

/** What `auto` takes for each size. Where it has no GPU to weigh, it need not be run for that. */
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

/** Medians of a few runs. */
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

/** The file again and again, `length` bytes long. Blocks know nothing of each other, so that repeats gain nothing. */
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
