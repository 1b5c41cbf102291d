import { toPagepressError } from "../errors.js";

/** What `work` in the module promises. It starts before this returns: arrays are read then. */
export async function settled<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
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
