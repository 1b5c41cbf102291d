import type { Names } from "../api/options.js";
import { checkedBytes, checkOptions, checkSize, fail, MAX_BYTES } from "../base/arguments.js";
import { type Bytes, join, totalOf } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import { Job } from "../base/job.js";
import { unshared } from "../base/views.js";
import { openPool } from "../workers/open-pool.js";
import { moduleOf } from "./module.js";
import type { Samples, TrainOptions } from "./types.js";

const names: Names<TrainOptions> = { size: true, signal: true, workers: true, createWorker: true, modules: true };

/** Trains a dictionary for blocks that resemble `samples`, and returns its bytes for `createDictionary`. Samples of a hundred times
 * its size are enough. A worker does the work, at some MB per second; with `workers: 0`, or where none starts, the calling thread. The result depends on
 * nothing but samples and size.
 *
 * Rejects with `INVALID_ARGUMENT` if the samples have no bytes, or more than 1 GiB. */
export async function trainDictionary(samples: Samples, options: TrainOptions = {}): Promise<Bytes> {
  const job = new Job({ signal: options?.signal }, null);
  try {
    checkOptions(options, names);
    const { size = 65_536, signal, modules } = options;
    checkSize("size", size, 65_536);
    const parts = checkedSamples(samples);
    const lengths = Uint32Array.from(parts, ({ length }) => length);
    job.check();
    // Training uses the module of dictionaries, and an empty one.
    const training = await moduleOf(new Uint8Array(), 0, modules?.dictionary);
    const all = join(parts);
    const pool = await openPool(options);
    if (!pool) return training.train(all, lengths, size);
    try {
      const trained = pool.run<Bytes>(training, "train", [all, lengths, size], [], signal);
      await job.settled(trained);
      job.check();
      return await trained;
    } catch (error) {
      if (job.isStopped || error instanceof PagepressError) throw error;
      // The worker failed, not the training.
      return training.train(all, lengths, size);
    } finally {
      pool.end();
    }
  } catch (error) {
    throw job.errorOf(error);
  }
}

function checkedSamples(samples: Samples): Uint8Array[] {
  if (typeof (samples as Partial<Samples> | undefined)?.[Symbol.iterator] !== "function" || ArrayBuffer.isView(samples)) {
    fail("samples", typeof samples, "give an array of byte arrays, one for each page, record or message");
  }
  const parts = Array.from(samples, (sample) => unshared(checkedBytes("sample", sample)));
  const total = totalOf(parts);
  if (total > MAX_BYTES) fail("samples", `${total} bytes`, "give at most 1 GiB; a hundred times the size of the dictionary is enough");
  return parts;
}
