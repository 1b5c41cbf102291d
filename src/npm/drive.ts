import type { Call, Outcome } from "./codec.js";
import { Job } from "./job.js";
import type { CallOptions } from "./types.js";

/** Drives a call to its end that no caller watches. */
export function drive<T>(call: Call<T>, options: CallOptions = {}): Promise<Outcome<T>> {
  const job = new Job(options, null);
  return job.drive(call);
}
