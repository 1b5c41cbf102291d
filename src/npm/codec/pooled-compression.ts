import { checkLimit, checkUnchanged } from "../base/arguments.js";
import { type Bytes, wholeBlocks } from "../base/bytes.js";
import { cancelled, type Job } from "../base/job.js";
import { LightAbortController } from "../base/abort.js";
import type { FrameOptions } from "../base/types.js";
import { FrameWriter } from "../frame/writer.js";
import type { BlockOptions, CpuModule } from "../modules/cpu-module.js";
import type { Pool } from "../workers/pool.js";
import type { FrameProgress } from "./codec.js";
import { MIN_SHARED_BYTES } from "./sharing.js";

/** Bytes of content of a part of a stream. */
const PART_BYTES = 2 ** 20;
/** Limits of the parts of a stream in flight: one per worker and up to `spare` more, so that each worker finds its next part
 * queued, and at most `most`. The stream's own thread cannot supply more workers, since it spends a tenth of a worker's time
 * on each part. Each part uses some 7 MB of memory. */
const FLIGHT = { spare: 4, most: 10 };
/** Maximum bytes of content of a stream in flight, of which there are two copies. It limits streams of large blocks, of up
 * to 4 MiB. */
const FLIGHT_BYTES = 32 * 2 ** 20;

/** Maximum bytes of a block in addition to its data: size and checksum. */
const AROUND_BLOCK_BYTES = 8;

/** Flow control of a pooled compression. */
interface Flow {
  /** Bytes of content of every part except the last, a multiple of the block size. */
  readonly partBytes: number;
  /** Maximum number of parts in flight. */
  readonly mostParts: number;
  /** True if the caller may change the content of a part after `push` has returned. */
  readonly isVolatile: boolean;
}

/** Returns the flow control of a stream, whose memory is bounded. */
export function streamFlow(nWorkers: number, blockSize: number): Flow {
  const partBytes = wholeBlocks(PART_BYTES, blockSize);
  const wanted = Math.min(nWorkers + Math.min(nWorkers, FLIGHT.spare), FLIGHT.most);
  return { partBytes, mostParts: Math.max(Math.min(wanted, Math.floor(FLIGHT_BYTES / partBytes)), 2), isVolatile: true };
}

/** Content that a worker compresses. It is kept until its blocks have arrived, since the worker may fail. */
interface Part {
  readonly content: Uint8Array;
  readonly length: number;
  /** The blocks, in a transferred buffer; undefined if no worker compressed them. */
  blocks?: Bytes;
  /** Resolves when the worker has succeeded or failed; undefined afterwards, and without a worker. */
  pending?: Promise<void> | undefined;
}

/** A session that compresses the parts of a frame on workers. Their blocks are appended in the order of the parts. */
export class PooledCompression {
  readonly #cpu: CpuModule;
  readonly #pool: Pool;
  readonly #options: BlockOptions;
  readonly #flow: Flow;
  readonly #frame: FrameWriter;
  readonly partBytes: number;
  /** Parts in flight, oldest first. */
  #inFlight: Part[] = [];
  /** Buffers for reuse: copies of volatile content, and buffers transferred to workers. */
  #copies: ArrayBuffer[] = [];
  #transferred: ArrayBuffer[] = [];
  #isBegun = false;
  readonly #end = new LightAbortController();

  constructor(cpu: CpuModule, pool: Pool, options: Required<FrameOptions>, contentSize: number, flow: Flow) {
    const { blockSize, level, blockChecksums } = options;
    this.#cpu = cpu;
    this.#pool = pool;
    this.#options = { blockSize, level, blockChecksums };
    this.#flow = flow;
    this.partBytes = flow.partBytes;
    this.#frame = new FrameWriter(cpu, options, contentSize);
  }

  get progress(): FrameProgress {
    return this.#frame;
  }

  /** Cancels the parts that have not been sent to a worker yet, and frees the frame. */
  free(): void {
    this.#end.abort(cancelled());
    this.#inFlight = [];
    this.#frame.free();
  }

  /** Sends a part, and returns the bytes of the frame that are complete. Waits only while too many parts are in flight; the
   * last part waits for all. */
  async push(content: Uint8Array, isLast: boolean, job: Job): Promise<Bytes> {
    await this.#push(content, isLast, job);
    return this.#frame.take();
  }

  /** Compresses all of `bytes`, and returns the frame. Rejects with `OUTPUT_LIMIT` once it exceeds `maxOutputSize`. */
  async pushAll(bytes: Uint8Array, maxOutputSize: number, job: Job): Promise<Bytes> {
    const { length } = bytes;
    for (let at = 0; at < length; at += this.partBytes) {
      checkUnchanged(bytes, length);
      const end = at + this.partBytes;
      await this.#push(bytes.subarray(at, end), end >= length, job);
      checkLimit(this.#frame.bytesOut, maxOutputSize);
      // The last byte counts as processed when the frame is complete.
      job.report(Math.min(this.#frame.bytesIn, length - 1), this.#frame.bytesOut, "cpu");
    }
    return this.#frame.take();
  }

  async #push(content: Uint8Array, isLast: boolean, job: Job): Promise<void> {
    this.#send(content, isLast);
    if (isLast) await this.#finish(job);
    else if (!this.#inFlight[0]?.pending || this.#inFlight.length >= this.#flow.mostParts) await this.#putOldest(job);
  }

  async #finish(job: Job): Promise<void> {
    while (this.#inFlight.length > 0) {
      await this.#putOldest(job);
      // The last byte counts as processed when the frame is complete.
      if (this.#inFlight.length > 0) job.report(this.#frame.bytesIn, this.#frame.bytesOut, "cpu");
      await job.yieldToEventLoop();
    }
    this.#frame.end();
  }

  /** Appends the blocks of the oldest part to the frame. */
  async #putOldest(job: Job): Promise<void> {
    const [part] = this.#inFlight;
    if (part?.pending) await job.settled(part.pending);
    job.check();
    this.#inFlight.shift();
    if (part) this.#frame.put(this.#blocksOf(part), part.length);
  }

  #send(given: Uint8Array, isLast: boolean): void {
    const { length } = given;
    if (length === 0) return;
    let content = given;
    if (this.#flow.isVolatile) {
      content = new Uint8Array(this.#copies.pop() ?? new ArrayBuffer(length), 0, length);
      content.set(given);
    }
    this.#frame.addContent(content);
    const isShort = isLast && !this.#isBegun && length < MIN_SHARED_BYTES;
    this.#isBegun = true;
    const part: Part = { content, length };
    this.#inFlight.push(part);
    if (isShort || this.#pool.failure) return;
    part.pending = this.#compressOnWorker(content)
      .then((blocks) => void (part.blocks = blocks))
      .catch(() => undefined)
      .then(() => void (part.pending = undefined));
  }

  #compressOnWorker(content: Uint8Array): Promise<Bytes> {
    const { length } = content;
    const capacity = length + AROUND_BLOCK_BYTES * Math.ceil(length / this.#options.blockSize);
    const buffer = this.#transferred.pop() ?? new ArrayBuffer(capacity);
    const sent = new Uint8Array(buffer, 0, length);
    sent.set(content);
    return this.#pool.run(this.#cpu, "compressBlocks", [sent, this.#options], [buffer], this.#end);
  }

  /** Returns the blocks of a part. A part that no worker compressed is compressed here. */
  #blocksOf({ content, length, blocks }: Part): Bytes {
    checkUnchanged(content, length);
    const isStream = this.#flow.isVolatile;
    if (isStream) this.#copies.push(content.buffer as ArrayBuffer);
    if (!blocks) return this.#cpu.compressBlocks(content, this.#options);
    // A call copies its blocks once, at its end. A stream may be long, so it reuses the buffer.
    if (!isStream) return blocks;
    this.#transferred.push(blocks.buffer);
    return blocks.slice();
  }
}
