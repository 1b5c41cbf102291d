import { type Bytes, wholeBlocks } from "../base/bytes.js";
import { cancelled, type Job } from "../base/job.js";
import { Stop } from "../base/stop.js";
import type { FrameOptions } from "../base/types.js";
import { FrameWriter } from "../frame/writer.js";
import type { BlockOptions, CpuModule } from "../modules/cpu-module.js";
import type { Pool } from "../workers/pool.js";
import type { Compression, Outcome } from "./codec.js";

/** Content of less than this is not worth the way to a worker and back. */
export const WORTH_SHARING_BYTES = 256 * 1024;

/** Content of a part. */
const PART_BYTES = 2 ** 20;
/** Most parts on their way. Beside one for each worker there are some, so that a worker that is done finds the next one.
 * More workers than that the stream's own thread could not keep busy: it takes about a tenth of their time for a part. And
 * each takes some 7 MB of memory. */
const FLIGHT = { spare: 4, most: 10 };
/** Most content on its way, of which there are two copies: blocks may be of 4 MiB. */
const FLIGHT_BYTES = 32 * 2 ** 20;

/** Most bytes that a block has beside its own: size and checksum. */
const AROUND_BLOCK_BYTES = 8;

/** Content on its way through a worker. */
class Part {
  /** Ours, until its blocks are there: a worker may fail. */
  readonly content: Uint8Array<ArrayBuffer>;
  /** What came back, if anything did. */
  back: Bytes | undefined;
  /** Resolves when something came back, or nothing will. */
  readonly settled: Promise<void>;
  isSettled: boolean;

  /** Content that is compressed here when its turn comes unless `work` gives its blocks. */
  constructor(content: Uint8Array<ArrayBuffer>, work: Promise<Bytes> | undefined) {
    this.content = content;
    this.isSettled = !work;
    this.settled = (work ?? Promise.resolve(undefined))
      .then((back) => void (this.back = back))
      .catch(() => undefined)
      .then(() => void (this.isSettled = true));
  }
}

/** A stream that workers compress: parts go to them as they come, and blocks are taken in the same order. */
export class PooledCompression implements Compression {
  readonly #cpu: CpuModule;
  readonly #pool: Pool;
  readonly #options: BlockOptions;
  readonly #frame: FrameWriter;
  readonly partBytes: number;
  /** Most parts on their way. */
  readonly #mostParts: number;
  /** Those on their way, oldest first. */
  #parts: Part[] = [];
  /** Memory of parts that are done: ours, and what workers had. */
  #rooms: ArrayBuffer[] = [];
  #lent: ArrayBuffer[] = [];
  #isBegun = false;
  readonly #end = new Stop();
  readonly #timed: (work: Promise<Bytes>) => Promise<Outcome<Bytes>>;

  constructor(
    cpu: CpuModule,
    pool: Pool,
    options: Required<FrameOptions>,
    contentSize: number,
    timed: (work: Promise<Bytes>) => Promise<Outcome<Bytes>>,
  ) {
    this.#timed = timed;
    const { blockSize, level, blockChecksums } = options;
    this.#cpu = cpu;
    this.#pool = pool;
    this.#options = { blockSize, level, blockChecksums };
    this.#frame = new FrameWriter(cpu, options, contentSize);
    this.partBytes = wholeBlocks(PART_BYTES, blockSize);
    const wanted = Math.min(pool.size + Math.min(pool.size, FLIGHT.spare), FLIGHT.most);
    this.#mostParts = Math.max(Math.min(wanted, Math.floor(FLIGHT_BYTES / this.partBytes)), 2);
  }

  get bytesIn(): number {
    return this.#frame.bytesIn;
  }

  get bytesOut(): number {
    return this.#frame.bytesOut;
  }

  /** Jobs that no worker has yet are given up. */
  free(): void {
    this.#end.abort(cancelled());
    this.#parts = [];
    this.#frame.free();
  }

  /** Sends the part on its way, and gives the oldest part that came back; waits only for room for the next part. The last one
   * waits for all. */
  push(content: Uint8Array, isLast: boolean, job: Job): Promise<Outcome<Bytes>> {
    return this.#timed(this.#push(content, isLast, job));
  }

  async #push(content: Uint8Array, isLast: boolean, job: Job): Promise<Bytes> {
    this.#send(content, isLast);
    if (isLast) await this.#finish(job);
    else if (this.#parts[0]?.isSettled || this.#parts.length >= this.#mostParts) await this.#putOldest(job);
    return this.#frame.take();
  }

  async #finish(job: Job): Promise<void> {
    while (this.#parts.length > 0) {
      await this.#putOldest(job);
      // The last byte is done when the frame is whole.
      if (this.#parts.length > 0) job.report(this.bytesIn, this.bytesOut, "cpu");
      await job.rest();
    }
    this.#frame.end();
  }

  /** Puts the blocks of the oldest part into the frame. */
  async #putOldest(job: Job): Promise<void> {
    const [part] = this.#parts;
    if (part && !part.isSettled) await job.settled(part.settled);
    job.check();
    this.#parts.shift();
    if (part) this.#frame.put(this.#blocksOf(part), part.content.length);
  }

  #send(given: Uint8Array, isLast: boolean): void {
    const { length } = given;
    if (length === 0) return;
    const content = new Uint8Array(this.#rooms.pop() ?? new ArrayBuffer(length), 0, length);
    content.set(given);
    this.#frame.add(content);
    const isShort = isLast && !this.#isBegun && length < WORTH_SHARING_BYTES;
    this.#parts.push(new Part(content, isShort || this.#pool.failure ? undefined : this.#share(content)));
    this.#isBegun = true;
  }

  #share(content: Uint8Array): Promise<Bytes> {
    const { length } = content;
    const most = length + AROUND_BLOCK_BYTES * Math.ceil(length / this.#options.blockSize);
    const memory = this.#lent.pop() ?? new ArrayBuffer(most);
    const sent = new Uint8Array(memory, 0, length);
    sent.set(content);
    return this.#pool.run("compressLent", [sent, this.#options], [memory], this.#end);
  }

  /** The blocks of a part; what no worker did is done here. */
  #blocksOf({ content, back }: Part): Bytes {
    this.#rooms.push(content.buffer);
    if (!back) return this.#cpu.compressBlocks(content, this.#options);
    this.#lent.push(back.buffer);
    return back.slice();
  }
}
