import { Job } from "../base/job.js";
import { once } from "../base/once.js";
import type { Calibration, CalibrationRow } from "../base/types.js";
import type { Codec } from "./codec.js";

/** Sizes that are timed, in bytes. */
const SIZES = [256 * 1024, 1024 * 1024, 4 * 1024 * 1024, 16 * 1024 * 1024];
/** Time in milliseconds after which no further size is timed. */
const BUDGET_MS = 500;
const PAGE_SIZE = 65536;

/** Calibrations by adapter. They stay valid as long as the page, since the machine does not change. */
const made = new Map<string, Promise<Calibration>>();

/** Times both engines on increasing sizes, once for each adapter. */
export function calibrate(gpu: Codec, cpu: Codec): Promise<Calibration> {
  const adapter = gpu.backend()?.adapter ?? "unnamed adapter";
  return once(made, adapter, () => measure(gpu, cpu, adapter));
}

async function measure(gpu: Codec, cpu: Codec, adapter: string): Promise<Calibration> {
  const bytes = sample(SIZES.at(-1) as number);
  // Warm-up: the first run compiles kernels and starts workers.
  for (const codec of [gpu, cpu]) await timeBoth(codec, bytes.subarray(0, SIZES[0]));
  const rows: CalibrationRow[] = [];
  const start = performance.now();
  for (const size of SIZES) {
    if (performance.now() - start > BUDGET_MS) break;
    const part = bytes.subarray(0, size);
    const [onGpu, onCpu] = [await timeBoth(gpu, part), await timeBoth(cpu, part)];
    rows.push({ bytes: size, compressMs: { webgpu: onGpu[0], cpu: onCpu[0] }, decompressMs: { webgpu: onGpu[1], cpu: onCpu[1] } });
  }
  return {
    adapter,
    rows,
    compressFrom: crossover(rows.map(({ bytes: n, compressMs }) => [n, compressMs.cpu, compressMs.webgpu])),
    decompressFrom: crossover(rows.map(({ bytes: n, decompressMs }) => [n, decompressMs.cpu, decompressMs.webgpu])),
    milliseconds: performance.now() - start,
  };
}

/** Returns the milliseconds to compress `bytes` at the fastest level of the engine, and to decompress them: the minimum of
 * two runs, since other programs use the machine too. */
async function timeBoth(codec: Codec, bytes: Uint8Array): Promise<[number, number]> {
  let [compressing, decompressing] = [Infinity, Infinity];
  for (let i = 0; i < 2; i += 1) {
    const start = performance.now();
    const { value } = await codec.compressPages(bytes, { pageSize: PAGE_SIZE, level: "auto" }, new Job());
    const middle = performance.now();
    await codec.decompressPages(value, { isStrict: true }, new Job());
    compressing = Math.min(compressing, middle - start);
    decompressing = Math.min(decompressing, performance.now() - middle);
  }
  return [compressing, decompressing];
}

/**
 * Returns the size in bytes from which the GPU is faster, or null. `rows` are bytes, milliseconds of the CPU and of the GPU.
 *
 * The gain is interpolated linearly between two sizes, and extrapolated linearly beyond the last one.
 */
export function crossover(rows: readonly [number, number, number][]): number | null {
  const gain = rows.map(([bytes, cpu, gpu]): [number, number] => [bytes, cpu - gpu]);
  let last = gain.length - 1;
  if (last < 0) return null;
  if ((gain[last] as [number, number])[1] <= 0) {
    const [[n0, g0], [n1, g1]] = [gain[Math.max(last - 1, 0)] as [number, number], gain[last] as [number, number]];
    return g1 > g0 ? Math.ceil(n1 - (g1 * (n1 - n0)) / (g1 - g0)) : null;
  }
  // Finds the smallest size from which the GPU is faster at every size.
  while (last > 0 && (gain[last - 1] as [number, number])[1] > 0) last -= 1;
  const [n1, g1] = gain[last] as [number, number];
  if (last === 0) return n1;
  const [n0, g0] = gain[last - 1] as [number, number];
  return Math.ceil(n0 + (-g0 * (n1 - n0)) / (g1 - g0));
}

/** Returns test data of medium compressibility: words, counters and some noise. */
function sample(length: number): Uint8Array {
  const view = new DataView(new ArrayBuffer(length));
  let state = 1;
  for (let at = 0; at < length; at += 8) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    const kind = state >>> 30;
    view.setUint32(at, kind === 0 ? state : kind === 1 ? at >>> 6 : 0x20656874, true);
    view.setUint32(at + 4, kind === 2 ? 0 : (state >>> 24) * 0x01000193, true);
  }
  return new Uint8Array(view.buffer);
}
