import { cutFrame, END_MARK_BYTES, join, type BlockedFrame } from "./frame.js";
import { checkUnchanged } from "./arguments.js";
import { Content } from "./content.js";
import { PagepressError } from "./errors.js";
import type { Call, Codec, Compression, Decompression, FrameParts, Outcome } from "./codec.js";
import { wholeBlocks } from "./content-part.js";
import { FrameWriter } from "./frame-writer.js";
import type { Bytes } from "./module-memory.js";
import { entryOf, joinPages } from "./packed-pages.js";
import type { Plain } from "./plain.js";
import type { Pool } from "./pool.js";
import { PooledCompression, WORTH_SHARING_BYTES } from "./pooled-compression.js";
import { cancelled, type Control, driveWithin, NotThisWay, PromiseCall } from "./promise-call.js";
import type { BackendInfo, CheckedPages, Device, FrameOptions, PackedPages } from "./types.js";

/** To decompress is little more than copying, of which the way to a worker and back makes two: with two workers that was
 * slower than in place. */
const WORKERS_TO_DECOMPRESS = 4;
/** Least and most content of a job: the way there and back costs a fraction of a millisecond. */
const JOB_BYTES = { least: 128 * 1024, most: 1024 * 1024 };

/** The codec of the CPU, which shares large calls among workers. The bytes are those that it writes alone. */
export class PooledCodec implements Codec {
  #alone: Codec;
  #pool: Pool;
  #plain: Plain;

  constructor(alone: Codec, pool: Pool, plain: Plain) {
    this.#alone = alone;
    this.#pool = pool;
    this.#plain = plain;
  }

  backend(): BackendInfo | undefined {
    return this.#alone.backend();
  }

  device(): Device | null {
    return null;
  }

  close(): void {
    this.#pool.end();
    this.#alone.close();
  }

  free(): void {
    this.#alone.free();
  }

  /** Streams are shared; the parts of a call are what is done in place when sharing it did not work. */
  beginCompression(options: Required<FrameOptions>, contentSize: number, isStream: boolean): Compression {
    const isShort = contentSize >= 0 && !this.#isWorthSharing(contentSize);
    if (!isStream || isShort || this.#pool.failure || options.blockSize === 0) {
      return this.#alone.beginCompression(options, contentSize, isStream);
    }
    return new PooledCompression(this.#plain, this.#pool, options, contentSize);
  }

  compressPart(session: Compression, isLast: boolean): Call<Bytes> {
    if (!(session instanceof PooledCompression)) return this.#alone.compressPart(session, isLast);
    return new PromiseCall((control) => this.#timed(session.compress(isLast, control)));
  }

  beginDecompression(maxOutputSize: number, isStream: boolean): Decompression {
    return this.#alone.beginDecompression(maxOutputSize, isStream);
  }

  decompressPart(session: Decompression): Call<Uint8Array<ArrayBuffer> | null> {
    return this.#alone.decompressPart(session);
  }

  compressFrame(bytes: Uint8Array, options: Required<FrameOptions>): Call<Bytes> | undefined {
    const { blockSize, level, blockChecksums } = options;
    if (blockSize === 0 || !this.#isWorthSharing(bytes.length)) return undefined;
    const { length } = bytes;
    const step = this.#jobBytes(length, blockSize);
    return this.#shared(async (control) => {
      const frame = new FrameWriter(this.#plain, options, length);
      try {
        const job = (i: number): Parameters<Pool["run"]> => {
          checkUnchanged(bytes, length);
          const content = bytes.slice(i * step, (i + 1) * step);
          frame.add(content);
          return ["compressBlocks", [content, { blockSize, level, blockChecksums }], [content.buffer]];
        };
        await this.#each<Bytes>(control, Math.ceil(length / step), job, (blocks, i) => {
          frame.put(blocks, Math.min(step, length - i * step));
          // The last byte is done when the frame is whole.
          control.tell(Math.min(frame.bytesIn(), length - 1), frame.bytesOut(), "cpu");
        });
        frame.end();
        return frame.take();
      } finally {
        frame.free();
      }
    });
  }

  decompressFrames(bytes: Uint8Array, maxOutputSize: number): Call<Uint8Array<ArrayBuffer>> | undefined {
    const { length } = bytes;
    if (!this.#isWorthSharing(length, WORKERS_TO_DECOMPRESS)) return undefined;
    return this.#shared(async (control) => {
      const frame = cutFrame(bytes, this.#plain);
      if (!frame) throw new NotThisWay();
      const header = this.#plain.frameHeader(frame.blockSize, false, frame.blockChecksums, undefined);
      const ranges = groupBlocks(frame, this.#jobBytes(frame.contentSize ?? bytes.length, 1));
      const out = new FrameContent(frame, new Content(maxOutputSize, bytes), new this.#plain.ContentSum());
      try {
        const job = (i: number): Parameters<Pool["run"]> => {
          checkUnchanged(bytes, length);
          const [from, to] = ranges[i] as [number, number];
          const part = join([header, bytes.subarray(from, to), new Uint8Array(END_MARK_BYTES)]);
          return ["decompressSync", [part, "frame", maxOutputSize], [part.buffer]];
        };
        await this.#each<Uint8Array>(control, ranges.length, job, (content, i) => {
          out.add(content);
          control.tell((ranges[i] as [number, number])[1], out.length, "cpu");
        });
        return out.finish();
      } finally {
        out.free();
      }
    });
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages> {
    const alone = (): Call<PackedPages> => this.#alone.compressPages(bytes, pageSize, level);
    const { length } = bytes;
    const step = this.#jobBytes(length, pageSize);
    return this.#share(length, 1, alone, async (control) => {
      let made = 0;
      const job = (i: number): Parameters<Pool["run"]> => {
        checkUnchanged(bytes, length);
        const pages = bytes.slice(i * step, (i + 1) * step);
        return ["compressPages", [pages, pageSize, level], [pages.buffer]];
      };
      const shares = await this.#each<PackedPages>(control, Math.ceil(length / step), job, (share, i) => {
        made += share.packed.length;
        control.tell(Math.min((i + 1) * step, length - 1), made, "cpu");
      });
      return joinPages(shares, pageSize, length);
    });
  }

  decompressPages(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<Uint8Array<ArrayBuffer>> {
    const alone = (): Call<Uint8Array<ArrayBuffer>> =>
      this.#alone.decompressPages(packed, table, pageSize, byteLength);
    return this.#share(byteLength, WORKERS_TO_DECOMPRESS, alone, async (control) => {
      const { bytes, status } = await this.#checkPages(control, packed, table, pageSize, byteLength);
      if (status.some((code) => code !== 0)) throw new NotThisWay();
      return bytes;
    });
  }

  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<CheckedPages> {
    const alone = (): Call<CheckedPages> =>
      this.#alone.decompressPagesStatus(packed, table, pageSize, byteLength);
    return this.#share(byteLength, WORKERS_TO_DECOMPRESS, alone, (control) =>
      this.#checkPages(control, packed, table, pageSize, byteLength),
    );
  }

  async #checkPages(
    control: Control,
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Promise<CheckedPages> {
    const { length } = packed;
    const nPages = Math.ceil(byteLength / pageSize);
    const step = this.#jobBytes(byteLength, pageSize) / pageSize;
    if (table.length !== 2 * nPages) throw new NotThisWay();
    const bytes = new Uint8Array(byteLength);
    const status = new Uint8Array(nPages);
    let at = 0;
    await this.#each<CheckedPages>(
      control,
      Math.ceil(nPages / step),
      (i) => {
        checkUnchanged(packed, length);
        const entries = table.slice(2 * i * step, 2 * (i + 1) * step);
        const blocks = takeBlocks(packed, entries, step * pageSize);
        const nBytes = Math.min(step * pageSize, byteLength - i * step * pageSize);
        return ["decompressPagesStatus", [blocks, entries, pageSize, nBytes], [blocks.buffer, entries.buffer]];
      },
      (share) => {
        bytes.set(share.bytes, at * pageSize);
        status.set(share.status, at);
        at += share.status.length;
        const done = Math.min(at * pageSize, byteLength - 1);
        control.tell(done, done, "cpu");
      },
    );
    return { bytes, status };
  }

  /** Content of a job, a multiple of `unit`: so little that there is something for every worker. */
  #jobBytes(nBytes: number, unit: number): number {
    const share = Math.max(JOB_BYTES.least, Math.min(JOB_BYTES.most, nBytes / (2 * this.#pool.size)));
    return wholeBlocks(share, Math.max(unit, 1));
  }

  #isWorthSharing(nBytes: number, leastWorkers = 1): boolean {
    return nBytes >= WORTH_SHARING_BYTES && this.#pool.size >= leastWorkers && !this.#pool.failure;
  }

  /** A call that workers make if it is large; `alone` makes it if they cannot, or says what is wrong with it. */
  #share<T>(
    nBytes: number,
    leastWorkers: number,
    alone: () => Call<T>,
    work: (control: Control) => Promise<T>,
  ): Call<T> {
    if (!this.#isWorthSharing(nBytes, leastWorkers)) return alone();
    return new PromiseCall(async (control) => {
      try {
        return await this.#timed(work(control));
      } catch (error) {
        if (isFinal(control, error)) throw error;
        return driveWithin(control, alone());
      }
    });
  }

  /** A call that workers make; whatever stands in their way, it is not for them. */
  #shared<T>(work: (control: Control) => Promise<T>): Call<T> {
    return new PromiseCall(async (control) => {
      try {
        return await this.#timed(work(control));
      } catch (error) {
        throw isFinal(control, error) ? error : new NotThisWay();
      }
    });
  }

  async #timed<T>(work: Promise<T>): Promise<Outcome<T>> {
    const start = performance.now();
    const value = await work;
    const totalNs = Math.round((performance.now() - start) * 1e6);
    const { reason } = this.backend() ?? { reason: "" };
    const none = { uploadNs: null, kernelNs: null, readbackNs: null };
    return { value, timing: { engine: "cpu", reason, ...none, totalNs, workers: this.#pool.size } };
  }

  /** Has workers do the jobs 0 to `n`, not all at a time, and takes what they give in this order. */
  async #each<T>(
    control: Control,
    n: number,
    job: (i: number) => Parameters<Pool["run"]>,
    take: (value: T, i: number) => void = () => undefined,
  ): Promise<T[]> {
    const values: T[] = [];
    const running: Promise<T>[] = [];
    let next = 0;
    try {
      while (values.length < n) {
        if (control.isCancelled) throw cancelled();
        while (next < n && running.length < 2 * this.#pool.size) {
          const answer = this.#pool.run<T>(...job(next));
          // It may fail before its turn to be waited for.
          answer.catch(() => undefined);
          running.push(answer);
          next += 1;
        }
        const value = await (running[0] as Promise<T>);
        void running.shift();
        take(value, values.length);
        values.push(value);
      }
      return values;
    } finally {
      await Promise.allSettled(running);
    }
  }
}

/** Whether nobody is to try again: the call was given up, or its arguments are wrong. */
function isFinal(control: Control, error: unknown): boolean {
  return control.isCancelled || (error instanceof PagepressError && error.code === "INVALID_ARGUMENT");
}

/** The content of a frame as its parts come in. */
class FrameContent {
  #frame: BlockedFrame;
  #content: Content;
  #sum: InstanceType<FrameParts["ContentSum"]>;

  constructor(frame: BlockedFrame, content: Content, sum: InstanceType<FrameParts["ContentSum"]>) {
    this.#frame = frame;
    this.#content = content;
    this.#sum = sum;
  }

  add(part: Uint8Array): void {
    this.#content.add(part, true);
    if (this.#frame.contentChecksum !== null) this.#sum.add(part);
  }

  get length(): number {
    return this.#content.length;
  }

  finish(): Uint8Array<ArrayBuffer> {
    const { contentSize, contentChecksum } = this.#frame;
    const isSound =
      (contentSize === null || contentSize === this.length) &&
      (contentChecksum === null || contentChecksum === this.#sum.value());
    if (!isSound) throw new NotThisWay();
    return this.#content.finish();
  }

  free(): void {
    this.#sum.free();
  }
}

/** Ranges of bytes that hold some blocks each, for content of about `jobBytes`: blocks say only what they hold at most. */
function groupBlocks({ starts, blockSize, contentSize }: BlockedFrame, jobBytes: number): [number, number][] {
  const nBlocks = starts.length - 1;
  const blockBytes = contentSize === null ? blockSize : contentSize / Math.max(nBlocks, 1);
  const step = Math.max(1, Math.round(jobBytes / Math.max(blockBytes, 1)));
  return Array.from({ length: Math.ceil(nBlocks / step) }, (_, i) => {
    return [starts[i * step] as number, starts[Math.min((i + 1) * step, nBlocks)] as number];
  });
}

/** A copy of the blocks of `entries`, which then count from its start. */
function takeBlocks(packed: Uint8Array, entries: Uint32Array, nBytes: number): Uint8Array<ArrayBuffer> {
  let [first, end] = [Infinity, 0];
  for (let page = 0; page < entries.length / 2; page += 1) {
    const { start, length } = entryOf(entries, page);
    first = Math.min(first, start);
    end = Math.max(end, start + length);
  }
  // Entries that leave the array, or lie far apart, are as they are for the codec in place.
  if (end > packed.length || end - first > 2 * nBytes + 65536) throw new NotThisWay();
  for (let i = 0; i < entries.length; i += 2) entries[i] = (entries[i] as number) - first / 4;
  return packed.slice(first, end);
}
