import { drive } from "../drive.js";
import { toPagepressError } from "../errors.js";
import type { Call } from "../codec.js";

/** What a call of the module gives. It starts before this returns: arrays are read then. */
export async function valueOf<T>(begin: () => Call<T>): Promise<T> {
  try {
    return (await drive(begin())).value;
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
