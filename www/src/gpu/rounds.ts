// Runs and checks the rounds of one engine for tensors.
import { measure } from "../measure/measure";
import type { Control } from "../rpc/serve";
import type { Operation, TensorEngine, TensorRound } from "./calls";
import { errorOfOperation, errorOfProduct } from "./check";
import type { Floats, Prepared, TensorEngineRunner } from "./engine";

let opened: TensorEngineRunner | null = null;

/** Opens the engine of this worker. Imports are dynamic, so that the other engines are not loaded. */
export async function open({ engine, allowSoftware }: { engine: TensorEngine; allowSoftware: boolean }): Promise<string> {
  opened = await load(engine, allowSoftware);
  return opened.name;
}

async function load(engine: TensorEngine, allowSoftware: boolean): Promise<TensorEngineRunner> {
  if (engine === "webgpu") return (await import("./pagepress-gpu")).openGpu(allowSoftware);
  if (engine === "cpu") return (await import("./pagepress-cpu")).openCpu();
  return (await import("./tfjs")).openTfjs();
}

function current(): TensorEngineRunner {
  if (!opened) throw new Error("no engine is open");
  return opened;
}

/** Times a work after a warm-up, which compiles kernels. */
async function timed(work: Prepared, signal: AbortSignal, errorOf: (values: Floats) => Omit<TensorRound, "milliseconds">): Promise<TensorRound> {
  try {
    await work.run();
    const { milliseconds } = await measure(() => work.run(), signal);
    return { milliseconds, ...errorOf(await work.read()) };
  } finally {
    work.dispose();
  }
}

/** Times and checks a product of two square matrices. */
export async function product({ size }: { size: number }, { signal }: Control<never>): Promise<TensorRound> {
  const [a, b] = [matrix(size * size, 1), matrix(size * size, 2)];
  return timed(await current().product(a, b, size), signal, (values) => errorOfProduct(a, b, values, size));
}

/** Times and checks an operation. */
export async function operate(
  { operation, rows, cols }: { operation: Operation; rows: number; cols: number },
  { signal }: Control<never>,
): Promise<TensorRound> {
  const a = matrix(rows * cols, 3);
  return timed(await current().operate(operation, a, rows, cols), signal, (values) => errorOfOperation(operation, a, values, rows, cols));
}

/** Returns pseudo-random numbers from -1 to 1. */
function matrix(length: number, seed: number): Floats {
  let state = seed;
  return Float32Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}
