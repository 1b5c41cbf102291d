import {
  checkLimit, checkOptions, checkedBytes, checkedLimit, checkedTarget, checkedWords, checkSize, checkUnchanged, MAX_BYTES, release, takeOver,
} from "../base/arguments.js";
import { asyncDisposal } from "../base/disposal.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import { Job } from "../base/job.js";
import { SerialQueue } from "../base/serial-queue.js";
import type { StopSignal } from "../base/abort.js";
import type {
  BackendInfo, BytesInput, CallOptions, Capabilities, CheckedPages, CompressOptions, CompressorOptions, CompressPagesOptions,
  CompressResidentOptions, DecompressOptions, DecompressPagesOptions, DecompressResidentOptions, Device, DeviceBuffer, DeviceCounters,
  GpuMemory, InputOptions, Level, PackedPages, PackedPagesInput, ResidentContent, Timing,
} from "../base/types.js";
import { unshared, viewAs } from "../base/views.js";
import { type Codec, type Outcome, withTiming } from "../codec/codec.js";
import { outcomeOf } from "../codec/cpu.js";
import type { Opened } from "../codec/open.js";
import { checkedFormat, checkedLevel, frameOptions } from "../frame/options.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { checkDictionary, moduleWith } from "../modules/dictionaries.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { load, loadedCpu } from "../modules/load.js";
import { describe } from "./capabilities.js";
import { DeviceWatch } from "./device-watch.js";
import * as names from "./options.js";
import { compressResident, decompressResident, ResidentPages, sizeOf } from "./resident.js";

/** Timings by the results of calls. */
const timings = new WeakMap<object, Timing>();

/** Returns the timing of the call that returned `result`; undefined for other objects. */
export function timingOf(result: object): Timing | undefined {
  return timings.get(result);
}

/** A checked call: the bytes that its progress counts, and its work, which runs after the earlier calls. */
interface Prepared<T> {
  readonly totalBytes: number;
  readonly work: (codec: Codec, job: Job) => Promise<Outcome<T>>;
}

/** Compresses and decompresses LZ4 frames and batches of pages on one engine. Created by `createCompressor`.
 *
 * Calls run one after the other, in the order in which they were made. They read their input while they run, so do not
 * change it until they have settled. */
export class Compressor {
  #codec: Codec;
  #level: Level;
  #isDeterministic: boolean;
  #backend: BackendInfo;
  #device: Device | null;
  #watch: DeviceWatch;
  #obstacles: BackendInfo["rejected"];
  #timing: Timing | null = null;
  readonly #queue = new SerialQueue();
  #disposal: Promise<void> | undefined;

  /** @internal */
  constructor({ codec, obstacles }: Opened, { level = "auto", deterministic = false, onDeviceLost }: CompressorOptions) {
    this.#codec = codec;
    this.#level = level;
    this.#isDeterministic = deterministic;
    this.#obstacles = obstacles;
    this.#backend = this.#describe(codec.backend());
    this.#device = codec.device?.() ?? null;
    this.#watch = new DeviceWatch(onDeviceLost);
    this.#watch.watch(this.#device);
  }

  /** The engine in use, and the reason for the choice. With the backend `"auto"` it is the CPU once the GPU has failed. */
  get backend(): BackendInfo {
    return this.#backend;
  }

  /** The `GPUDevice` in use; null on the CPU and after `dispose`. The next call replaces a lost device. */
  get device(): Device | null {
    return this.#device;
  }

  /** GPU memory of the engine; null on the CPU and after `dispose`. */
  get memory(): GpuMemory | null {
    return this.#codec.memory?.() ?? null;
  }

  /** Numbers of lost and replaced devices. */
  get deviceCounters(): DeviceCounters {
    return this.#watch.counters;
  }

  /** Describes the engines of this machine, the engine in use and the reason for the choice. With the backend `"auto"` and a
   * GPU this first times both engines, for about half a second, unless they have been timed already. */
  async capabilities(): Promise<Capabilities> {
    const calibrating = this.#queue.run(() => (this.#disposal ? null : this.#codec.calibrate?.()));
    return describe(this.#backend, (await calibrating.catch(() => null)) ?? null);
  }

  /** Timing of the last successful call; null before the first. For concurrent calls use `timingOf`. */
  get lastTiming(): Timing | null {
    return this.#timing;
  }

  /** Compresses `bytes` to an LZ4 frame, the content of an `.lz4` file, or to another `format`. */
  compress(bytes: BytesInput, options: CompressOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(bytes, options, names.compress, async (taken, codec, job) => {
      const dictionary = moduleWith(options);
      const format = checkedFormat(options);
      const all = frameOptions(options, this.levelOf(options), format);
      const limit = checkedLimit(options.maxOutputSize);
      const isFrame = format === "frame";
      const outcome = await (isFrame
        ? codec.compress(taken, all, limit, job, dictionary)
        : inPlace(dictionary, (cpu) => cpu.compressSync(taken, format, all, limit)));
      checkLimit(outcome.value.length, limit);
      job.report(taken.length, outcome.value.length, outcome.timing.engine);
      return outcome;
    });
  }

  /** Decompresses all LZ4 frames in `bytes`, or bytes of another `format`. */
  decompress<B extends ArrayBufferLike = ArrayBuffer>(bytes: BytesInput, options: DecompressOptions<B> = {}): Promise<Uint8Array<B>> {
    const content = this.#read(bytes, options, names.decompress, async (taken, codec, job) => {
      const dictionary = moduleWith(options);
      const format = checkedFormat(options);
      const target = checkedTarget(options, taken);
      const isFrame = format === "frame";
      const outcome = await (isFrame
        ? codec.decompress(taken, target, job, dictionary)
        : inPlace(dictionary, (cpu) => cpu.decompressSync(taken, format, target)));
      job.report(taken.length, outcome.value.length, outcome.timing.engine);
      return outcome;
    });
    return content as Promise<Uint8Array<ArrayBufferLike>> as Promise<Uint8Array<B>>;
  }

  /** Compresses each page of `bytes` on its own. */
  compressPages<B extends ArrayBufferLike = ArrayBuffer>(bytes: BytesInput, options: CompressPagesOptions<B> = {}): Promise<PackedPages<B>> {
    const packed = this.#read(bytes, options, names.compressPages, async (taken, codec, job) => {
      const { pageSize = 4096 } = options;
      checkSize("pageSize", pageSize, 0xffff_ffff);
      const { into } = checkedTarget({ into: options.into }, taken);
      const form = { pageSize, level: this.levelOf(options), into };
      const outcome = await codec.compressPages(taken, form, job, moduleWith(options));
      job.report(taken.length, outcome.value.packed.length, outcome.timing.engine);
      return outcome;
    });
    return packed as Promise<PackedPages<ArrayBufferLike>> as Promise<PackedPages<B>>;
  }

  /** Decompresses pages; rejects with `CORRUPT_PAGE` if one is invalid. */
  async decompressPages<B extends ArrayBufferLike = ArrayBuffer>(
    pages: PackedPagesInput,
    options: DecompressPagesOptions<B> = {},
  ): Promise<Uint8Array<B>> {
    const checked = await this.#readPages(pages, true, options);
    timings.set(checked.bytes, timings.get(checked) as Timing);
    return checked.bytes as Uint8Array<ArrayBufferLike> as Uint8Array<B>;
  }

  /** Decompresses pages, and returns the status of each. Invalid pages are zeros. */
  checkPages<B extends ArrayBufferLike = ArrayBuffer>(
    pages: PackedPagesInput,
    options: DecompressPagesOptions<B> = {},
  ): Promise<CheckedPages<B>> {
    return this.#readPages(pages, false, options) as Promise<CheckedPages<ArrayBufferLike>> as Promise<CheckedPages<B>>;
  }

  /** Compresses pages in a `GPUBuffer` of `device` with the usage `STORAGE`. Input and output stay in GPU memory. Rejects
   * with `BACKEND_UNAVAILABLE` on the CPU. */
  compressResident(buffer: DeviceBuffer, options: CompressResidentOptions = {}): Promise<ResidentPages> {
    return this.#start(options, names.compressResident, () => {
      const { pageSize = 4096, byteLength = sizeOf("buffer", buffer) } = options;
      checkSize("pageSize", pageSize, 0xffff_ffff);
      checkSize("byteLength", byteLength, sizeOf("buffer", buffer));
      const level = this.levelOf(options);
      const dictionary = moduleWith(options);
      const work = (codec: Codec, job: Job) => compressResident(codec, buffer, byteLength, pageSize, level, job, dictionary);
      return { totalBytes: byteLength, work };
    });
  }

  /** Decompresses pages, in arrays or in GPU memory, or LZ4 frames in an array, to a `GPUBuffer` of `device`. Content
   * checksums are not verified, since the content does not leave the GPU. Rejects with `CORRUPT_PAGE` if a page is invalid,
   * and with `BACKEND_UNAVAILABLE` on the CPU. */
  decompressResident(
    input: ResidentPages | PackedPagesInput | Uint8Array,
    options: DecompressResidentOptions = {},
  ): Promise<ResidentContent> {
    return this.#start(options, names.decompressResident, () => {
      const { buffer, usage = 0 } = options;
      checkSize("usage", usage, 0xffff_ffff);
      const target = { buffer, usage, maxOutputSize: checkedLimit(options.maxOutputSize) };
      const dictionary = moduleWith(options);
      const given = checkedInput(input, dictionary);
      const totalBytes = given instanceof Uint8Array ? given.length : given.byteLength;
      return { totalBytes, work: (codec: Codec, job: Job) => decompressResident(codec, given, target, job, dictionary) };
    });
  }

  /** Calls `dispose`, for `await using`. */
  [asyncDisposal](): Promise<void> {
    return this.dispose();
  }

  /** Releases engine and memory after all earlier calls have settled. Later calls reject with `DISPOSED`. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#queue.run(() => {
      this.#watch.end();
      this.#device = null;
      this.#codec.close?.();
    });
    return this.#disposal;
  }

  /** Returns the checked level of a call or a stream with these options.
   * @internal */
  levelOf({ level = this.#level, deterministic = this.#isDeterministic }: Pick<CompressorOptions, "level" | "deterministic">): Level {
    return checkedLevel(level, deterministic ? "fast" : "auto");
  }

  /** Calls `look` with the codec after all earlier calls have settled, and returns the result.
   * @internal */
  look<T>(look: (codec: Codec) => T | Promise<T>): Promise<T> {
    return this.#enqueue(async () => {
      await this.#codec.revive?.();
      return look(this.#codec);
    });
  }

  /** Checks the options and arguments of a call now, and runs its work after all earlier calls have settled. */
  #start<T, Options extends CallOptions>(options: Options, known: names.Names<Options>, prepare: () => Prepared<T>): Promise<T> {
    try {
      checkOptions(options, known);
      const { totalBytes, work } = prepare();
      const job = new Job(options, totalBytes);
      return this.run(job, (codec) => work(codec, job));
    } catch (error) {
      return Promise.reject(toPagepressError(error));
    }
  }

  /** Does the same for a call that reads one array. With the option `transfer` the array's buffer is transferred now. */
  #read<T, Options extends InputOptions>(
    bytes: BytesInput,
    options: Options,
    known: names.Names<Options>,
    work: (taken: Uint8Array, codec: Codec, job: Job) => Promise<Outcome<T>>,
  ): Promise<T> {
    let taken: Uint8Array | undefined;
    const done = this.#start(options, known, () => {
      const view = checkedBytes("bytes", bytes);
      const own = options.transfer ? (taken = takeOver(view)) : unshared(view);
      const { length } = own;
      const checked = (codec: Codec, job: Job): Promise<Outcome<T>> => {
        checkUnchanged(own, length);
        return work(own, codec, job);
      };
      return { totalBytes: length, work: checked };
    });
    return taken ? done.finally(() => taken && release(taken)) : done;
  }

  #readPages(pages: PackedPagesInput, isStrict: boolean, options: DecompressPagesOptions<ArrayBufferLike>): Promise<CheckedPages> {
    return this.#start(options, names.decompressPages, () => {
      const dictionary = moduleWith(options);
      const checked = checkedPages(pages, dictionary);
      const { byteLength } = checked;
      const { limit, into } = checkedTarget(options, checked.packed);
      checkLimit(byteLength, Math.min(limit, into?.length ?? limit));
      const work = async (codec: Codec, job: Job): Promise<Outcome<CheckedPages>> => {
        const outcome = await codec.decompressPages(checked, { isStrict, into }, job, dictionary);
        job.report(byteLength, byteLength, outcome.timing.engine);
        return outcome;
      };
      // Progress of pages counts their content.
      return { totalBytes: byteLength, work };
    });
  }

  /** Runs `work` after all earlier calls have settled. Rejects as soon as the job is aborted; the next call waits until the
   * work has stopped.
   * @internal */
  run<T>(job: Job, work: (codec: Codec) => Promise<Outcome<T>>): Promise<T> {
    const result = this.#enqueue(() => this.#call(job, work));
    return job.signal ? unlessAborted(result, job.signal) : result;
  }

  #enqueue<T>(turn: () => Promise<T>): Promise<T> {
    if (this.#disposal) return Promise.reject(new PagepressError("DISPOSED", "this compressor was disposed of"));
    return this.#queue.run(turn);
  }

  async #call<T>(job: Job, work: (codec: Codec) => Promise<Outcome<T>>): Promise<T> {
    try {
      job.check();
      await this.#codec.revive?.();
      const { value, timing } = await work(this.#codec);
      const isFallback = this.#obstacles.length > 0;
      this.#timing = isFallback ? { ...timing, reason: this.#backend.reason } : timing;
      if (typeof value === "object" && value !== null) timings.set(value, this.#timing);
      return value;
    } catch (error) {
      throw job.errorOf(error);
    } finally {
      this.#backend = this.#describe(this.#codec.backend());
      this.#device = this.#codec.device?.() ?? null;
      this.#watch.watch(this.#device);
    }
  }

  /** Returns the description of the codec with the obstacles to a GPU. A lost codec has none, so the last one is kept. */
  #describe(backend: BackendInfo = this.#backend): BackendInfo {
    if (this.#obstacles.length === 0) return backend;
    return { ...backend, reason: "no GPU can be used", rejected: this.#obstacles };
  }
}

/** Returns a checked copy of the properties of `pages`, since the caller may change the object before the call runs. Throws if
 * they need another dictionary. */
function checkedPages({ packed, table, pageSize, byteLength, dictionaryId = 0 }: PackedPagesInput, dictionary: DictionaryModule | undefined): PackedPagesInput {
  checkSize("dictionaryId", dictionaryId, 0xffff_ffff);
  checkDictionary(dictionaryId, dictionary);
  checkSize("pageSize", pageSize, 0xffff_ffff);
  checkSize("byteLength", byteLength, MAX_BYTES);
  return {
    packed: unshared(checkedBytes("packed", packed)),
    table: unshared(checkedWords("table", table)),
    pageSize,
    byteLength,
  };
}

/** Returns the checked input of `decompressResident`; of pages, a copy of their properties. */
function checkedInput(
  input: ResidentPages | PackedPagesInput | Uint8Array,
  dictionary: DictionaryModule | undefined,
): ResidentPages | PackedPagesInput | Uint8Array {
  if (input instanceof ResidentPages) {
    checkDictionary(input.dictionaryId, dictionary);
    return input;
  }
  if (viewAs(Uint8Array, input)) return unshared(checkedBytes("bytes", input));
  return checkedPages((input ?? {}) as PackedPagesInput, dictionary);
}

/** Settles like `result`, or rejects with the signal's reason as soon as it is aborted. */
function unlessAborted<T>(result: Promise<T>, signal: StopSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Runs `work` synchronously on the CPU. Formats without a frame are not processed in steps, so the call cannot be
 * aborted. */
async function inPlace(
  dictionary: DictionaryModule | undefined,
  work: (cpu: CpuModule) => Uint8Array<ArrayBuffer>,
): Promise<Outcome<Uint8Array<ArrayBuffer>>> {
  const cpu = dictionary ?? loadedCpu() ?? (await load("cpu"));
  return withTiming(outcomeOf(() => work(cpu)), { reason: "blocks without a frame run on the CPU" });
}
