import { toPagepressError } from "../errors.js";
import type { TensorModule } from "../tensor-module.js";

/** An instance of the module: what rejects the calls that wait for it. */
export type Instance = Set<(error: unknown) => void>;

let instance: Instance = new Set();
let restart: (() => void) | undefined;

/** @internal The instance in use. Objects of an earlier one are refused. */
export const current = (): Instance => instance;

/** @internal The module is loaded: what stops it makes a new instance. */
export function begin(module: TensorModule): void {
  restart = module.__wbg_reset_state;
}

/** What `work` in the module promises. It starts before this returns: arrays are read then. */
export async function settled<T>(work: () => Promise<T>): Promise<T> {
  const used = instance;
  let stop: (error: unknown) => void = () => undefined;
  const stopped = new Promise<never>((_, reject) => (stop = reject));
  used.add(stop);
  try {
    return await Promise.race([work(), stopped]);
  } catch (error) {
    throw failure(error, used);
  } finally {
    used.delete(stop);
  }
}

/** What `work` in the module gives at once. */
export function now<T>(work: () => T): T {
  const used = instance;
  try {
    return work();
  } catch (error) {
    throw failure(error, used);
  }
}

/** The error of a call. If the instance that it used panicked or trapped, a new one takes its place, and all calls that
 * wait for the old one are rejected. */
function failure(error: unknown, used: Instance): Error {
  const isStop = error instanceof WebAssembly.RuntimeError || (error as { code?: unknown } | null)?.code === "INTERNAL";
  if (isStop && used === instance) {
    instance = new Set();
    restart?.();
    for (const reject of used) reject(error);
  }
  return toPagepressError(error);
}
