import type { Compressor } from "../api/compressor.js";
import { sharedCompressor } from "../api/one-shot.js";
import { checkOptions, checkUnchanged } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import { nextTask } from "../base/task.js";
import type { Level, PackedPages } from "../base/types.js";
import type * as Wasm from "../wasm/snapshot.js";
import { layerOf } from "./layers.js";
import { loaded } from "./module.js";
import * as names from "./options.js";
import { bytesOfMemory, namedMemories } from "./regions.js";
import type { MemoryInput, Snapshot, SnapshotOptions } from "./types.js";
import { settled, stored, StoredSnapshot } from "./version.js";

/** Bytes of memory that are hashed in one step: a multiple of every page size. */
const STEP_BYTES = 2 ** 20;
/** Bytes of changed pages that are compressed in one call. */
const BATCH_BYTES = 2 ** 22;

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

/** Compresses the pages that a capture returns, a batch at a time, while it hashes the next ones. */
class Blocks {
  readonly #capture: Wasm.Capture;
  #compressor: Pick<Compressor, "compressPages"> | undefined;
  readonly #pageSize: number;
  readonly #level: Level;
  readonly #job: Job;
  /** The pages so far, and an array whose pages have been compressed or are being compressed. */
  #batch: Bytes = new Uint8Array();
  #other: Bytes = new Uint8Array();
  #filled = 0;
  #running: Promise<PackedPages> | undefined;
  readonly #packed: Bytes[] = [];
  /** Bytes of blocks so far. */
  length = 0;

  constructor(capture: Wasm.Capture, compressor: Pick<Compressor, "compressPages"> | undefined, pageSize: number, level: Level, job: Job) {
    this.#capture = capture;
    this.#compressor = compressor;
    this.#pageSize = pageSize;
    this.#level = level;
    this.#job = job;
  }

  /** Adds the next bytes of the memory. */
  async add(bytes: Uint8Array): Promise<void> {
    const length = this.#capture.add(bytes);
    if (length === 0) return;
    if (this.#filled + length > BATCH_BYTES) await this.flush();
    this.#reserve(this.#filled + length);
    this.#capture.takePages(this.#batch.subarray(this.#filled, this.#filled + length));
    this.#filled += length;
  }

  /** Starts to compress the pages so far, after the batch before has been compressed. */
  async flush(): Promise<void> {
    if (this.#filled === 0) return;
    const batch = this.#batch.subarray(0, this.#filled);
    this.#filled = 0;
    await this.#store();
    // The compressor's job counts from here.
    await nextTask();
    this.#compressor ??= await sharedCompressor();
    this.#running = this.#compressor.compressPages(batch, {
      pageSize: this.#pageSize,
      level: this.#level,
      signal: this.#job.signal as AbortSignal | undefined,
    });
    // An error is thrown where the result is awaited.
    this.#running.catch(() => undefined);
    [this.#batch, this.#other] = [this.#other, this.#batch];
  }

  /** Returns the blocks of all pages. */
  async finish(): Promise<Bytes[]> {
    await this.flush();
    await this.#store();
    return this.#packed;
  }

  /** Waits for a running call, and ignores its result. */
  async settle(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  async #store(): Promise<void> {
    if (!this.#running) return;
    const { packed, table } = await this.#running;
    this.#running = undefined;
    this.#capture.store(table, this.length);
    this.#packed.push(packed);
    this.length += packed.length;
  }

  /** Enlarges the batch to `length` bytes. */
  #reserve(length: number): void {
    if (length <= this.#batch.length) return;
    const larger = new Uint8Array(length > STEP_BYTES ? BATCH_BYTES : STEP_BYTES);
    larger.set(this.#batch.subarray(0, this.#filled));
    this.#batch = larger;
  }
}
