import { checkOptions, checkUnchanged } from "../base/arguments.js";
import { Blocks, STEP_BYTES } from "./blocks.js";
import { layerOf } from "./layers.js";
import { loaded } from "./module.js";
import * as names from "./options.js";
import { bytesOfMemory, namedMemories } from "./regions.js";
import type { MemoryInput, Snapshot, SnapshotOptions } from "./types.js";
import { settled, stored, StoredSnapshot } from "./version.js";

/** Takes a snapshot of `memory`. Pages that are filled with one word, equal to pages of `previous` or equal to each other are
 * stored as an entry; the others are compressed.
 *
 * The machine must not run until the promise has settled. */
export async function snapshot(memory: MemoryInput, options: SnapshotOptions = {}): Promise<Snapshot> {
  checkOptions(options, names.take);
  const parts = namedMemories(memory).map((part) => ({ name: part.name, bytes: bytesOfMemory(part) }));
  const total = parts.reduce((sum, { bytes }) => sum + bytes.length, 0);
  return settled(options, total, async (job) => {
    const { previous, level = "auto" } = options;
    const module = await loaded(options.modules?.snapshot);
    const base = previous && stored("previous", previous);
    const pageSize = options.pageSize ?? base?.pageSize ?? 4096;
    const lengths = Float64Array.from(parts, ({ bytes }) => bytes.length);
    const capture = module.make(
      ({ Capture }) => new Capture(pageSize, parts.map(({ name }) => name), lengths, base?.version.clone()),
    );
    const blocks = new Blocks(capture, options.compressor, pageSize, level, job);
    try {
      let done = 0;
      for (const { bytes } of parts) {
        const { length } = bytes;
        for (let at = 0; at < length; at += STEP_BYTES) {
          checkUnchanged(bytes, length);
          await blocks.add(bytes.subarray(at, Math.min(at + STEP_BYTES, length)));
          done += Math.min(STEP_BYTES, length - at);
          job.report(done, blocks.length, "cpu");
          await job.yieldToEventLoop();
        }
        // A short page can only be the last of a batch.
        if (length % pageSize !== 0) await blocks.flush();
      }
      const layer = await blocks.finish();
      return new StoredSnapshot(module, capture.finish(), layerOf(layer), base);
    } catch (error) {
      await blocks.settle();
      throw error;
    }
  });
}
