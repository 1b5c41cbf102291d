// Times and checks products of square matrices.
import type { GpuDevice, GpuTensor } from "pagepress/tensor";
import type { Control } from "../rpc/serve";
import type { MatmulPoint, MatmulResult, Multiplier } from "./calls";
import { nameOf, openDevice, reasonOf } from "./device";

type Floats = Float32Array<ArrayBuffer>;

const LEAST_SIZE = 64;
/** Duration and number of the rounds per size. The fastest round counts, since other programs may slow some. */
const ROUND_MS = 80;
const ROUNDS = 3;
/** Time per size after which larger sizes, which are expected to take eight times as long, are skipped. */
const LONGEST_MS = 1500;
/** Number of elements of a product that are recomputed. */
const CHECKED = 512;

/** Computes the same product `times` times. */
type Multiply = (times: number) => Promise<void>;

/** Measures each size up to `mostSize`, in ascending order. */
export async function measureMatmul(
  { mostSize, allowSoftware }: { mostSize: number; allowSoftware: boolean },
  { signal, progress }: Control<MatmulPoint>,
): Promise<MatmulResult> {
  const result: MatmulResult = { points: [], device: null, withoutGpu: null, stopped: [] };
  let device: GpuDevice | null = null;
  try {
    device = await openDevice(allowSoftware);
    result.device = nameOf(device);
  } catch (error) {
    result.withoutGpu = reasonOf(error);
  }
  const isOn = (engine: Multiplier): boolean => !result.stopped.some((one) => one.engine === engine);
  for (let size = LEAST_SIZE; size <= mostSize; size *= 2) {
    const [a, b] = [matrix(size, 1), matrix(size, 2)];
    for (const engine of ["webgpu", "javascript"] as const) {
      if (!isOn(engine) || (engine === "webgpu" && !device)) continue;
      const point = engine === "webgpu" ? await onGpu(device as GpuDevice, a, b, size, signal) : await inJavaScript(a, b, size, signal);
      result.points.push(point);
      progress(point);
      if (point.milliseconds * 8 > LONGEST_MS) result.stopped.push({ engine, size });
    }
  }
  return result;
}

async function onGpu(device: GpuDevice, a: Floats, b: Floats, size: number, signal: AbortSignal): Promise<MatmulPoint> {
  const [left, right] = [await device.tensor(a, [size, size]), await device.tensor(b, [size, size])];
  let product: GpuTensor | null = null;
  try {
    const milliseconds = await timed(async (times) => {
      for (let i = 0; i < times; i += 1) {
        product?.dispose();
        product = await left.matmul(right);
      }
      await device.synchronize();
    }, signal);
    const values = await (product as unknown as GpuTensor).read();
    return point("webgpu", size, milliseconds, a, b, values);
  } finally {
    for (const tensor of [left, right, product]) (tensor as GpuTensor | null)?.dispose();
  }
}

async function inJavaScript(a: Floats, b: Floats, size: number, signal: AbortSignal): Promise<MatmulPoint> {
  const values = new Float32Array(size * size);
  const milliseconds = await timed(async (times) => {
    for (let i = 0; i < times; i += 1) multiply(a, b, values, size);
  }, signal);
  return point("javascript", size, milliseconds, a, b, values);
}

/** Computes c = a b. The loop order reads `b` and `c` sequentially, which suits caches. */
function multiply(a: Floats, b: Floats, c: Floats, size: number): void {
  c.fill(0);
  for (let row = 0; row < size; row += 1) {
    for (let i = 0; i < size; i += 1) {
      const factor = a[row * size + i] as number;
      for (let col = 0; col < size; col += 1) {
        c[row * size + col] = (c[row * size + col] as number) + factor * (b[i * size + col] as number);
      }
    }
  }
}

/** Returns the milliseconds of one product, after a warm-up. */
async function timed(multiplyTimes: Multiply, signal: AbortSignal): Promise<number> {
  const time = async (times: number): Promise<number> => {
    signal.throwIfAborted();
    const start = performance.now();
    await multiplyTimes(times);
    return (performance.now() - start) / times;
  };
  await time(1);
  const once = await time(1);
  if (once > ROUND_MS) return once;
  const times = Math.max(1, Math.round(ROUND_MS / Math.max(once, 0.05)));
  let best = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) best = Math.min(best, await time(times));
  return best;
}

function point(engine: Multiplier, size: number, milliseconds: number, a: Floats, b: Floats, values: Floats): MatmulPoint {
  const gflops = (2 * size ** 3) / milliseconds / 1e6;
  return { engine, size, milliseconds, gflops, ...check(a, b, values, size) };
}

/** Recomputes evenly spaced elements in 64 bits and returns the largest relative error. */
function check(a: Floats, b: Floats, values: Floats, size: number): { error: number; checked: number } {
  const step = Math.max(1, Math.floor((size * size) / CHECKED)) | 1;
  let [error, largest, checked] = [0, 0, 0];
  for (let at = 0; at < size * size; at += step) {
    const [row, col] = [Math.floor(at / size), at % size];
    let sum = 0;
    for (let i = 0; i < size; i += 1) sum += (a[row * size + i] as number) * (b[i * size + col] as number);
    error = Math.max(error, Math.abs((values[at] as number) - sum));
    largest = Math.max(largest, Math.abs(sum));
    checked += 1;
  }
  return { error: error / largest, checked };
}

/** Returns a matrix of pseudo-random numbers from -1 to 1. */
function matrix(size: number, seed: number): Floats {
  let state = seed;
  return Float32Array.from({ length: size * size }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
