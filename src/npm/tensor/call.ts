import { Job } from "../job.js";
import { drive } from "../module-call.js";
import { toPagepressError } from "../errors.js";
import type { Call } from "../module-call.js";

/** What a call of the module gives. It starts before this returns: arrays are read then. */
export async function valueOf<T>(begin: () => Call<T>): Promise<T> {
  try {
    return (await drive(begin(), new Job())).value;
  } catch (error) {
    throw toPagepressError(error);
  }
}

/** What `work` in the module gives at once. */
export function now<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw toPagepressError(error);
  }
}
