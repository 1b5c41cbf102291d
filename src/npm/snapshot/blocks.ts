import { Compressor, timingOf } from "../api/compressor.js";
import { sharedCompressor } from "../api/one-shot.js";
import type { Bytes } from "../base/bytes.js";
import type { Job } from "../base/job.js";
import { nextTask } from "../base/task.js";
import type { Level, PackedPages } from "../base/types.js";
import { levelNumber } from "../modules/enums.js";
import type * as Wasm from "../wasm/snapshot.js";

/** Bytes of memory that are hashed, and in the module compressed, in one step: a multiple of every page size. */
export const STEP_BYTES = 2 ** 18;
/** Bytes of changed pages that are compressed in one call. */
const BATCH_BYTES = 2 ** 22;
/** One batch in the calling thread can be a compressor's measurement, which compares the thread with its workers. */
const ENOUGH_HERE = 2;

/** Compresses the pages that a capture finds. The compressor takes a batch at a time, while the capture hashes the next pages. Once it
 * has compressed `ENOUGH_HERE` batches in a row in the calling thread, the module of the capture compresses the pages: its memory has
 * them already. */
export class Blocks {
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
  /** Number of the last batches that the compressor has compressed in the calling thread. */
  #nHere = 0;
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
    if (this.#nHere >= ENOUGH_HERE && this.#compressor instanceof Compressor) {
      await this.#store();
      const level = this.#compressor.levelOf({ level: this.#level });
      this.#append(this.#capture.compressPages(levelNumber(level, "sequential"), this.length) as Bytes);
      return;
    }
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
    // In the calling thread nothing runs beside it.
    if (this.#nHere > 0 || this.length === 0) await this.#store();
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
    const pages = await this.#running;
    this.#running = undefined;
    this.#capture.store(pages.table, this.length);
    this.#append(pages.packed);
    const timing = timingOf(pages);
    this.#nHere = timing?.engine === "cpu" && timing.workers === undefined ? this.#nHere + 1 : 0;
  }

  #append(blocks: Bytes): void {
    this.#packed.push(blocks);
    this.length += blocks.length;
  }

  /** Enlarges the batch to `length` bytes. */
  #reserve(length: number): void {
    if (length <= this.#batch.length) return;
    const larger = new Uint8Array(length > STEP_BYTES ? BATCH_BYTES : STEP_BYTES);
    larger.set(this.#batch.subarray(0, this.#filled));
    this.#batch = larger;
  }
}
