import { PagepressError, toPagepressError } from "./errors.js";
import * as glue from "./wasm/gpu.js";

/** The module of the GPU. It knows pages; files are the CPU's module's. */
export { glue };

/** Instances of the module that stopped. Objects are those of the instance in use when they were made. */
let nStopped = 0;

/** The number of the instance in use. */
export function instance(): number {
  return nStopped;
}

/** What `work` gives. After a panic or a trap in it there is a new instance, and other calls of the old one reject. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  const mine = nStopped;
  try {
    return await work();
  } catch (thrown) {
    const { code } = (thrown ?? {}) as { code?: unknown };
    if (code !== undefined && code !== "INTERNAL") throw thrown;
    const error = code === "INTERNAL" ? toPagepressError(thrown) : stopped(thrown);
    // The first call that fails so is to see to it.
    if (mine === nStopped) replace(error.message);
    throw error;
  }
}

function replace(reason: string): void {
  nStopped += 1;
  try {
    glue.stop(reason);
  } catch {
    // It is in no state to give up what it has.
  }
  glue.__wbg_reset_state();
}

function stopped(cause: unknown): PagepressError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new PagepressError("INTERNAL", `the engine stopped: ${message}`, { cause });
}
