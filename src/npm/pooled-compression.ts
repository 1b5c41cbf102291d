import type { Compression } from "./codec.js";
import { ContentPart, wholeBlocks } from "./content-part.js";
import { FrameWriter } from "./frame-writer.js";
import { Job } from "./job.js";
import type { Bytes } from "./module-memory.js";
import type { BlockOptions, Plain } from "./plain.js";
import type { Pool } from "./pool.js";
import { cancelled, type Control, NotThisWay } from "./promise-call.js";
import { Stop } from "./stop.js";
import type { FrameOptions } from "./types.js";

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
  isSettled = false;

  constructor(content: Uint8Array<ArrayBuffer>, work: Promise<Bytes>) {
    this.content = content;
    this.settled = work
      .then((back) => void (this.back = back))
      .catch(() => undefined)
      .then(() => void (this.isSettled = true));
  }
}

/** A stream that workers compress: parts go to them as they come, and blocks are taken in the same order. */
export class PooledCompression implements Compression {
  readonly #plain: Plain;
  readonly #pool: Pool;
  readonly #options: BlockOptions;
  readonly #frame: FrameWriter;
  readonly #held: ContentPart;
  /** Most parts on their way. */
  readonly #mostParts: number;
  /** Those on their way, oldest first. */
  #parts: Part[] = [];
  /** Memory of parts that are done: ours, and what workers had. */
  #rooms: ArrayBuffer[] = [];
  #lent: ArrayBuffer[] = [];
  #isBegun = false;
  readonly #end = new Stop();

  constructor(plain: Plain, pool: Pool, options: Required<FrameOptions>, contentSize: number) {
    const { blockSize, level, blockChecksums } = options;
    this.#plain = plain;
    this.#pool = pool;
    this.#options = { blockSize, level, blockChecksums };
    this.#frame = new FrameWriter(plain, options, contentSize);
    const partBytes = wholeBlocks(PART_BYTES, blockSize);
    this.#held = new ContentPart(partBytes, true);
    const wanted = Math.min(pool.size + Math.min(pool.size, FLIGHT.spare), FLIGHT.most);
    this.#mostParts = Math.max(Math.min(wanted, Math.floor(FLIGHT_BYTES / partBytes)), 2);
  }

  add(content: Uint8Array): number {
    return this.#held.add(content);
  }

  isFull(): boolean {
    return this.#held.isFull();
  }

  bytesIn(): number {
    return this.#frame.bytesIn();
  }

  bytesOut(): number {
    return this.#frame.bytesOut();
  }

  /** Jobs that no worker has yet are given up. */
  free(): void {
    this.#end.abort(cancelled());
    this.#parts = [];
    this.#frame.free();
  }

  /** Sends what is held on its way, and gives the oldest part that came back; waits only for room for the next part. The
   * last one waits for all. */
  async compress(isLast: boolean, control: Control): Promise<Bytes> {
    this.#send(this.#held.take(), isLast);
    if (isLast) await this.#finish(control);
    else if (this.#parts[0]?.isSettled || this.#parts.length >= this.#mostParts) await this.#putOldest(control);
    return this.#frame.take();
  }

  async #finish(control: Control): Promise<void> {
    const job = new Job({}, null);
    while (this.#parts.length > 0) {
      await this.#putOldest(control);
      // The last byte is done when the frame is whole.
      if (this.#parts.length > 0) control.tell(this.bytesIn(), this.bytesOut(), "cpu");
      await job.rest();
    }
    this.#frame.end();
  }

  /** Puts the blocks of the oldest part into the frame. */
  async #putOldest(control: Control): Promise<void> {
    const [part] = this.#parts;
    if (part && !part.isSettled) await unlessStopped(part.settled, control);
    if (control.isCancelled) throw cancelled();
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
    const isInPlace = isShort || this.#pool.failure;
    this.#parts.push(new Part(content, isInPlace ? Promise.reject(new NotThisWay()) : this.#share(content)));
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
    if (!back) return this.#plain.compressBlocks(content, this.#options);
    this.#lent.push(back.buffer);
    return back.slice();
  }
}

/** Resolves when `work` does, or as soon as `control` is told to stop. */
function unlessStopped(work: Promise<void>, control: Control): Promise<void> {
  const stopped = new Promise<void>((resolve) => {
    control.stop = resolve;
    if (control.isCancelled) resolve();
  });
  return Promise.race([work, stopped]).finally(() => delete control.stop);
}
