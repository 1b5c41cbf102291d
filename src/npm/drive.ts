import type { Call, Outcome } from "./codec.js";
import { Job, type JobOptions } from "./job.js";

/** Drives a call to its end that no caller watches. */
export function drive<T>(call: Call<T>, options: JobOptions = {}): Promise<Outcome<T>> {
  const job = new Job(options, null);
  return job.drive(call);
}
