import { PagepressError, toPagepressError } from "../errors.js";
import type { TensorModule } from "../tensor-module.js";

let module: TensorModule | undefined;
let nStopped = 0;

/** @internal The module that calls are made to. */
export function begin(loaded: TensorModule): void {
  module = loaded;
}

/** @internal The number of the module's instance in use. Objects of an earlier one are refused. */
export function instance(): number {
  return nStopped;
}

/** What `work` in the module promises. It starts before this returns: arrays are read then. */
export async function settled<T>(work: () => Promise<T>): Promise<T> {
  const used = nStopped;
  try {
    return await work();
  } catch (error) {
    throw failure(error, used);
  }
}

/** What `work` in the module gives at once. */
export function now<T>(work: () => T): T {
  const used = nStopped;
  try {
    return work();
  } catch (error) {
    throw failure(error, used);
  }
}

/** The error of a call. If the instance that it used panicked or trapped, a new one takes its place. */
function failure(error: unknown, used: number): PagepressError {
  const isTrap = error instanceof WebAssembly.RuntimeError;
  const failed = isTrap
    ? new PagepressError("INTERNAL", `the engine stopped: ${error.message}`, { cause: error })
    : toPagepressError(error);
  if (failed.code === "INTERNAL" && used === nStopped) {
    nStopped += 1;
    restart(failed.message);
  }
  return failed;
}

function restart(reason: string): void {
  try {
    module?.stop(reason);
  } catch {
    // It cannot even reject its other calls.
  }
  module?.__wbg_reset_state();
}
