import { checkUnchanged, type OutputTarget } from "../base/arguments.js";
import { type Bytes, join, wholeBlocks } from "../base/bytes.js";
import { PagepressError } from "../base/errors.js";
import type { Job } from "../base/job.js";
import type { BackendInfo, CheckedPages, FrameOptions, PackedPages, PackedPagesInput } from "../base/types.js";
import { END_MARK_BYTES } from "../format/frame-header.js";
import { entryOf, joinPages, type PagesForm, type Share } from "../format/packed-pages.js";
import { DecodedContent } from "../modules/content.js";
import type { CpuModule, FrameLayout } from "../modules/cpu-module.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import type { Pool } from "../workers/pool.js";
import { type Codec, type Compression, memoryFor, type Outcome, type PagesTarget, withPush } from "./codec.js";
import { cpuTiming } from "./cpu.js";
import { PooledCompression, streamFlow } from "./pooled-compression.js";
import { Sharing } from "./sharing.js";

/** Minimum number of workers for decompression, which costs little more than a copy, while the transfer to a worker and back
 * is two copies. With two workers it was slower than in the calling thread. */
const WORKERS_TO_DECOMPRESS = 4;
/** Minimum and maximum bytes of content of a part. The transfer to a worker and back takes a fraction of a millisecond. */
const PART_BYTES = { least: 128 * 1024, most: 1024 * 1024 };

/** Thrown for input that workers cannot process. The in-place codec then processes it, and reports its errors. */
class NotShared extends Error {}

/** A call of the pool without its module. */
type Order = Parameters<Pool["run"]> extends [CpuModule, ...infer Rest] ? Rest : never;

/** A call that may be shared. */
interface Call {
  kind: string;
  nBytes: number;
  leastWorkers?: number;
}

/** Compresses and decompresses on the CPU, and divides large calls among workers. The output is byte-identical to that of
 * the in-place codec. */
export class PooledCodec implements Codec {
  readonly #inPlace: Codec;
  readonly #pool: Pool;
  readonly #cpu: CpuModule;
  readonly #sharing: Sharing;

  constructor(inPlace: Codec, pool: Pool, cpu: CpuModule) {
    this.#inPlace = inPlace;
    this.#pool = pool;
    this.#cpu = cpu;
    this.#sharing = new Sharing(pool.size);
  }

  backend(): BackendInfo | undefined {
    return this.#inPlace.backend();
  }

  close(): void {
    this.#pool.end();
  }

  async beginCompression(options: Required<FrameOptions>, contentSize: number, dictionary?: DictionaryModule): Promise<Compression> {
    const isShort = contentSize >= 0 && !this.#isWorthSharing(kindOf(options, dictionary), contentSize);
    if (isShort || this.#pool.failure || options.blockSize === 0) return this.#inPlace.beginCompression(options, contentSize, dictionary);
    const flow = streamFlow(this.#pool.size, options.blockSize);
    const session = new PooledCompression(dictionary ?? this.#cpu, this.#pool, options, contentSize, flow);
    return withPush(session, (...part) => this.#timed(session.push(...part)));
  }

  compress(
    bytes: Uint8Array,
    options: Required<FrameOptions>,
    maxOutputSize: number,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<Bytes>> {
    const { length } = bytes;
    const kind = kindOf(options, dictionary);
    const isShared = options.blockSize > 0 && this.#isWorthSharing(kind, length);
    if (!isShared) return this.#noted(kind, length, this.#inPlace.compress(bytes, options, maxOutputSize, job, dictionary));
    const flow = { partBytes: this.#partBytes(length, options.blockSize), mostParts: 2 * this.#pool.size, isVolatile: false };
    const run = async (): Promise<Bytes> => {
      const session = new PooledCompression(dictionary ?? this.#cpu, this.#pool, options, length, flow);
      return session.pushAll(bytes, maxOutputSize, job).finally(() => session.free());
    };
    return this.#timed(run(), kind, length);
  }

  decompress(bytes: Uint8Array, target: OutputTarget, job: Job, dictionary?: DictionaryModule): Promise<Outcome<Bytes>> {
    const call = { kind: `decompress${suffixOf(dictionary)}`, nBytes: bytes.length, leastWorkers: WORKERS_TO_DECOMPRESS };
    const shared = (): Promise<Bytes> => this.#decompress(bytes, target, job, dictionary ?? this.#cpu);
    return this.#share(call, job, shared, () => this.#inPlace.decompress(bytes, target, job, dictionary));
  }

  async #decompress(bytes: Uint8Array, target: OutputTarget, job: Job, cpu: CpuModule): Promise<Bytes> {
    const { length } = bytes;
    const frame = cpu.frameLayout(bytes);
    if (!frame) throw new NotShared();
    const header = cpu.frameHeader({ blockSize: frame.blockSize, blockChecksums: frame.blockChecksums });
    const ranges = groupBlocks(frame, this.#partBytes(frame.contentSize ?? length, 1));
    const content = new DecodedContent(target, bytes);
    const sum = cpu.contentSum();
    try {
      const order = (i: number): Order => {
        checkUnchanged(bytes, length);
        const [from, to] = ranges[i] as [number, number];
        const part = join([header, bytes.subarray(from, to), new Uint8Array(END_MARK_BYTES)]);
        return ["decompressSync", [part, "frame", { limit: target.limit }], [part.buffer]];
      };
      await this.#each<Bytes>(cpu, job, ranges.length, order, (part, i) => {
        content.add(part);
        if (frame.contentChecksum !== undefined) sum.addContent(part);
        job.report((ranges[i] as [number, number])[1], content.length, "cpu");
      });
      const isWhole = frame.contentSize === undefined || frame.contentSize === content.length;
      const isIntact = frame.contentChecksum === undefined || frame.contentChecksum === sum.contentChecksum;
      if (!isWhole || !isIntact) throw new NotShared();
      return content.finish();
    } finally {
      sum.free();
    }
  }

  compressPages(
    bytes: Uint8Array,
    form: PagesForm,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<PackedPages>> {
    const cpu = dictionary ?? this.#cpu;
    const { length } = bytes;
    const step = this.#partBytes(length, form.pageSize);
    const shared = async (): Promise<PackedPages> => {
      let made = 0;
      const order = (i: number): Order => {
        checkUnchanged(bytes, length);
        const pages = bytes.slice(i * step, (i + 1) * step);
        return ["compressPages", [pages, form.pageSize, form.level], [pages.buffer]];
      };
      const shares = await this.#each<Share>(cpu, job, Math.ceil(length / step), order, ({ packed }, i) => {
        made += packed.length;
        job.report(Math.min((i + 1) * step, length - 1), made, "cpu");
      });
      return joinPages(shares, form, length, cpu.dictionaryId);
    };
    const call = { kind: `compress pages ${form.level}${suffixOf(dictionary)}`, nBytes: form.pageSize > 0 ? length : 0 };
    return this.#share(call, job, shared, () => this.#inPlace.compressPages(bytes, form, job, dictionary));
  }

  decompressPages(
    pages: PackedPagesInput,
    target: PagesTarget,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<CheckedPages>> {
    const nBytes = pages.pageSize > 0 ? pages.byteLength : 0;
    const call = { kind: `decompress pages${suffixOf(dictionary)}`, nBytes, leastWorkers: WORKERS_TO_DECOMPRESS };
    const shared = async (): Promise<CheckedPages> => {
      const checked = await this.#decompressPages(pages, target, job, dictionary ?? this.#cpu);
      if (target.isStrict && checked.status.some((code) => code !== 0)) throw new NotShared();
      return checked;
    };
    return this.#share(call, job, shared, () => this.#inPlace.decompressPages(pages, target, job, dictionary));
  }

  async #decompressPages(
    { packed, table, pageSize, byteLength }: PackedPagesInput,
    target: PagesTarget,
    job: Job,
    cpu: CpuModule,
  ): Promise<CheckedPages> {
    const { length } = packed;
    const nPages = Math.ceil(byteLength / pageSize);
    const step = this.#partBytes(byteLength, pageSize) / pageSize;
    if (table.length !== 2 * nPages) throw new NotShared();
    const bytes = memoryFor(target, byteLength);
    const status = new Uint8Array(nPages);
    let at = 0;
    const order = (i: number): Order => {
      checkUnchanged(packed, length);
      checkUnchanged(bytes, byteLength);
      const entries = table.slice(2 * i * step, 2 * (i + 1) * step);
      const blocks = takeBlocks(packed, entries, step * pageSize);
      const nBytes = Math.min(step * pageSize, byteLength - i * step * pageSize);
      return ["decompressPages", [blocks, entries, pageSize, nBytes], [blocks.buffer, entries.buffer]];
    };
    await this.#each<CheckedPages>(cpu, job, Math.ceil(nPages / step), order, (share) => {
      bytes.set(share.bytes, at * pageSize);
      status.set(share.status, at);
      at += share.status.length;
      const done = Math.min(at * pageSize, byteLength - 1);
      job.report(done, done, "cpu");
    });
    return { bytes, status };
  }

  /** Returns the bytes of content of a part: a multiple of `unit`, about two parts per worker within `PART_BYTES`. */
  #partBytes(nBytes: number, unit: number): number {
    const share = Math.max(PART_BYTES.least, Math.min(PART_BYTES.most, nBytes / (2 * this.#pool.size)));
    return wholeBlocks(share, Math.max(unit, 1));
  }

  #isWorthSharing(kind: string, nBytes: number, leastWorkers = 1): boolean {
    return this.#pool.size >= leastWorkers && !this.#pool.failure && this.#sharing.isWorth(kind, nBytes);
  }

  /** Returns the result of `shared` if that is expected to be faster and the workers succeed, else that of `inPlace`. */
  async #share<T>(call: Call, job: Job, shared: () => Promise<T>, inPlace: () => Promise<Outcome<T>>): Promise<Outcome<T>> {
    const { kind, nBytes, leastWorkers } = call;
    if (!this.#isWorthSharing(kind, nBytes, leastWorkers)) return this.#noted(kind, nBytes, inPlace());
    try {
      return await this.#timed(shared(), kind, nBytes);
    } catch (error) {
      const isFinal = error instanceof PagepressError && error.code === "INVALID_ARGUMENT";
      if (isFinal || job.isStopped || job.isThrown(error)) throw error;
      return inPlace();
    }
  }

  /** Notes the time of a call in place. */
  async #noted<T>(kind: string, nBytes: number, work: Promise<Outcome<T>>): Promise<Outcome<T>> {
    const outcome = await work;
    this.#sharing.noteInPlace(kind, nBytes, outcome.timing.totalNs / 1e6);
    return outcome;
  }

  /** Times work on workers; the time of a call is noted with its kind. */
  async #timed<T>(work: Promise<T>, kind?: string, nBytes = 0): Promise<Outcome<T>> {
    const [start, before, isReady] = [performance.now(), this.#pool.nCompleted, this.#pool.isReady];
    const value = await work;
    const ms = performance.now() - start;
    const timing = cpuTiming(ms, this.backend()?.reason);
    if (this.#pool.nCompleted === before) return { value, timing };
    // While workers start, other parts run in the calling thread.
    if (kind && isReady) this.#sharing.noteShared(kind, nBytes, ms);
    return { value, timing: { ...timing, workers: this.#pool.size } };
  }

  /** Runs the calls 0 to `n - 1` on workers, at most two per worker at a time, and passes their results to `take` in
   * order. */
  async #each<T>(
    cpu: CpuModule,
    job: Job,
    n: number,
    order: (i: number) => Order,
    take: (value: T, i: number) => void,
  ): Promise<T[]> {
    const values: T[] = [];
    const running: Promise<T>[] = [];
    let next = 0;
    try {
      while (values.length < n) {
        job.check();
        while (next < n && running.length < 2 * this.#pool.size) {
          const answer = this.#pool.run<T>(cpu, ...order(next));
          // Prevents an unhandled rejection: the call may fail before it is awaited.
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

/** Returns the kind of a compression of a frame. */
function kindOf({ level, contentChecksum }: Required<FrameOptions>, dictionary: DictionaryModule | undefined): string {
  return `compress frame ${level} ${contentChecksum}${suffixOf(dictionary)}`;
}

/** Returns the end of the kinds of calls with a dictionary, which take longer. */
function suffixOf(dictionary: DictionaryModule | undefined): string {
  return dictionary ? " with a dictionary" : "";
}

/** Returns byte ranges of consecutive blocks with about `partBytes` of content each. This is an estimate, since the content
 * of a single block is unknown. */
function groupBlocks({ starts, blockSize, contentSize }: FrameLayout, partBytes: number): [number, number][] {
  const nBlocks = starts.length - 1;
  const blockBytes = contentSize === undefined ? blockSize : contentSize / Math.max(nBlocks, 1);
  const step = Math.max(1, Math.round(partBytes / Math.max(blockBytes, 1)));
  return Array.from({ length: Math.ceil(nBlocks / step) }, (_, i) => {
    return [starts[i * step] as number, starts[Math.min((i + 1) * step, nBlocks)] as number];
  });
}

/** Returns a copy of the blocks of `entries`, and makes the entries relative to its start. */
function takeBlocks(packed: Uint8Array, entries: Uint32Array, nBytes: number): Uint8Array<ArrayBuffer> {
  let [first, end] = [Infinity, 0];
  for (let page = 0; page < entries.length / 2; page += 1) {
    const { start, length } = entryOf(entries, page);
    first = Math.min(first, start);
    end = Math.max(end, start + length);
  }
  // Entries out of bounds or far apart are left to the in-place codec.
  if (end > packed.length || end - first > 2 * nBytes + 65536) throw new NotShared();
  for (let i = 0; i < entries.length; i += 2) entries[i] = (entries[i] as number) - first / 4;
  return packed.slice(first, end);
}
