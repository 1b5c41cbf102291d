import { PagepressError, toPagepressError } from "./errors.js";
import * as glue from "./wasm/gpu.js";

/** The module of the GPU. It knows pages; files are the CPU's module's. */
export { glue };

/** Instances of the module that stopped. Objects are those of the instance in use when they were made. */
let nStopped = 0;
/** The errors that an instance stopped with. */
const stops = new WeakSet<object>();

/** The number of the instance in use. */
export function instance(): number {
  return nStopped;
}

/** What `work` gives. After a panic or a trap in it there is a new instance. */
export async function guarded<T>(work: () => Promise<T>): Promise<T> {
  const mine = nStopped;
  try {
    return await work();
  } catch (thrown) {
    const { code } = (thrown ?? {}) as { code?: unknown };
    if (code !== undefined && code !== "INTERNAL") throw thrown;
    // Calls that an instance stops in reject with one error, which counts once.
    if (!stops.has(thrown as object) && mine === nStopped) {
      if (thrown instanceof Error) stops.add(thrown);
      nStopped += 1;
      glue.__wbg_reset_state();
    }
    throw code === "INTERNAL" ? toPagepressError(thrown) : lost(thrown);
  }
}

function lost(cause: unknown): PagepressError {
  const message = cause instanceof Error ? cause.message : String(cause);
  return new PagepressError("INTERNAL", `the engine stopped: ${message}`, { cause });
}
