import {
  checkOptions,
  checkedBytes,
  checkedLimit,
  checkedTarget,
  checkedWords,
  checkOneOf,
  checkSize,
  checkUnchanged,
  MAX_BYTES,
  release,
  takeOver,
} from "../base/arguments.js";
import { asyncDisposal } from "../base/disposal.js";
import { PagepressError, toPagepressError } from "../base/errors.js";
import { Job } from "../base/job.js";
import type { StopSignal } from "../base/abort.js";
import type {
  BackendInfo,
  BytesInput,
  CallOptions,
  Capabilities,
  CheckedPages,
  CompressOptions,
  CompressPagesOptions,
  CompressResidentOptions,
  DecompressOptions,
  DecompressResidentOptions,
  Device,
  DeviceBuffer,
  DeviceCounters,
  DeviceLoss,
  GpuMemory,
  InputOptions,
  Level,
  PackedPages,
  PackedPagesInput,
  ResidentContent,
  Timing,
} from "../base/types.js";
import { unshared, viewAs } from "../base/views.js";
import type { Codec, Outcome } from "../codec/codec.js";
import { outcomeOf } from "../codec/cpu.js";
import type { Opened } from "../codec/open.js";
import { checkedFormat, frameOptions } from "../frame/options.js";
import { checkLimit } from "../modules/content.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { LEVELS } from "../modules/enums.js";
import { load, loadedCpu } from "../modules/load.js";
import { describe } from "./capabilities.js";
import { DeviceWatch } from "./device-watch.js";
import { names, type Names } from "./options.js";
import { compressResident, decompressResident, ResidentPages, sizeOf } from "./resident.js";

/** Timings by what calls gave. */
const timings = new WeakMap<object, Timing>();

/** Returns the timing of the call that returned `result`; undefined for other objects. */
export function timingOf(result: object): Timing | undefined {
  return timings.get(result);
}

/** A call that was checked: the bytes that its progress counts, and its work, which runs when its turn comes. */
interface Prepared<T> {
  readonly totalBytes: number;
  readonly work: (codec: Codec, job: Job) => Promise<Outcome<T>>;
}

/** Compresses and decompresses LZ4 frames and batches of pages on one engine. Made by `createCompressor`.
 *
 * Calls run one after the other in the order they were made. They read their input while they run, so leave it as it is
 * until they are done. */
export class Compressor {
  #codec: Codec;
  #level: Level;
  #backend: BackendInfo;
  #device: Device | null;
  #watch: DeviceWatch;
  #obstacles: BackendInfo["rejected"];
  #timing: Timing | null = null;
  #last: Promise<unknown> = Promise.resolve();
  #disposal: Promise<void> | undefined;

  /** @internal */
  constructor({ codec, obstacles }: Opened, level: Level, onDeviceLost?: (loss: DeviceLoss) => void) {
    this.#codec = codec;
    this.#level = level;
    this.#obstacles = obstacles;
    this.#backend = this.#describe(codec.backend());
    this.#device = codec.device();
    this.#watch = new DeviceWatch(onDeviceLost);
    this.#watch.watch(this.#device);
  }

  /** The engine, and why. After a GPU is lost in `"auto"` mode it is the CPU. */
  get backend(): BackendInfo {
    return this.#backend;
  }

  /** The `GPUDevice` in use; null on the CPU and after `dispose`. A lost device is replaced by the next call. */
  get device(): Device | null {
    return this.#device;
  }

  /** GPU memory that the engine has; null on the CPU and after `dispose`. */
  get memory(): GpuMemory | null {
    return this.#codec.memory?.() ?? null;
  }

  /** Counts of lost and replaced devices. */
  get deviceCounters(): DeviceCounters {
    return this.#watch.counters;
  }

  /** What this machine offers, what was taken of it, and why. In `"auto"` mode with a GPU both engines are timed first,
   * for about half a second, unless they were before. */
  async capabilities(): Promise<Capabilities> {
    const calibrating = this.#last.then(() => (this.#disposal ? null : this.#codec.calibrate?.()));
    this.#last = calibrating.catch(() => undefined);
    return describe(this.#backend, (await calibrating.catch(() => null)) ?? null);
  }

  /** Timing of the last successful call; null before. `timingOf` has the timing of each of several concurrent calls. */
  get lastTiming(): Timing | null {
    return this.#timing;
  }

  /** Compresses `bytes` to an LZ4 frame, which is what an `.lz4` file is, or to the `format` asked for. */
  compress(bytes: BytesInput, options: CompressOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#read(bytes, options, names.compress, async (taken, codec, job) => {
      const format = checkedFormat(options);
      const all = frameOptions(options, this.#level, format);
      const limit = checkedLimit(options.maxOutputSize);
      const isFrame = format === "frame";
      const outcome = await (isFrame ? codec.compress(taken, all, limit, job) : inPlace((cpu) => cpu.compressSync(taken, format, all, limit)));
      checkLimit(outcome.value.length, limit);
      job.report(taken.length, outcome.value.length, outcome.timing.engine);
      return outcome;
    });
  }

  /** Decompresses all LZ4 frames in `bytes`, or what `format` says they are. */
  decompress<B extends ArrayBufferLike = ArrayBuffer>(bytes: BytesInput, options: DecompressOptions<B> = {}): Promise<Uint8Array<B>> {
    const content = this.#read(bytes, options, names.decompress, async (taken, codec, job) => {
      const format = checkedFormat(options);
      const target = checkedTarget(options, taken);
      const isFrame = format === "frame";
      const outcome = await (isFrame ? codec.decompress(taken, target, job) : inPlace((cpu) => cpu.decompressSync(taken, format, target)));
      job.report(taken.length, outcome.value.length, outcome.timing.engine);
      return outcome;
    });
    return content as Promise<Uint8Array<ArrayBufferLike>> as Promise<Uint8Array<B>>;
  }

  /** Compresses `bytes` page by page. */
  compressPages(bytes: BytesInput, options: CompressPagesOptions = {}): Promise<PackedPages> {
    return this.#read(bytes, options, names.compressPages, async (taken, codec, job) => {
      const { pageSize = 4096, level = this.#level } = options;
      checkSize("pageSize", pageSize, 0xffff_ffff);
      checkOneOf("level", level, LEVELS);
      const outcome = await codec.compressPages(taken, pageSize, level, job);
      job.report(taken.length, outcome.value.packed.length, outcome.timing.engine);
      return outcome;
    });
  }

  /** Decompresses pages; rejects with `CORRUPT_PAGE` if one is wrong. */
  async decompressPages(pages: PackedPagesInput, options: CallOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    const checked = await this.#readPages(pages, true, options);
    timings.set(checked.bytes, timings.get(checked) as Timing);
    return checked.bytes;
  }

  /** Decompresses pages and says of each whether it is sound, and if not, why. */
  checkPages(pages: PackedPagesInput, options: CallOptions = {}): Promise<CheckedPages> {
    return this.#readPages(pages, false, options);
  }

  /** Compresses pages in a `GPUBuffer` of `device`, whose usages include `STORAGE`. Everything stays in GPU memory. */
  compressResident(buffer: DeviceBuffer, options: CompressResidentOptions = {}): Promise<ResidentPages> {
    return this.#start(options, names.compressResident, () => {
      const { pageSize = 4096, level = this.#level, byteLength = sizeOf("buffer", buffer) } = options;
      checkSize("pageSize", pageSize, 0xffff_ffff);
      checkSize("byteLength", byteLength, sizeOf("buffer", buffer));
      checkOneOf("level", level, LEVELS);
      const work = (codec: Codec, job: Job) => compressResident(codec, buffer, byteLength, pageSize, level, job);
      return { totalBytes: byteLength, work };
    });
  }

  /** Decompresses pages, in arrays or in GPU memory, or LZ4 frames in an array, to a `GPUBuffer` of `device`. Checksums of
   * content are not checked, since it does not leave the GPU. Rejects with `CORRUPT_PAGE` if a page is wrong. */
  decompressResident(
    input: ResidentPages | PackedPagesInput | Uint8Array,
    options: DecompressResidentOptions = {},
  ): Promise<ResidentContent> {
    return this.#start(options, names.decompressResident, () => {
      const { buffer, usage = 0 } = options;
      checkSize("usage", usage, 0xffff_ffff);
      const target = { buffer, usage, maxOutputSize: checkedLimit(options.maxOutputSize) };
      const given = checkedInput(input);
      const totalBytes = given instanceof Uint8Array ? given.length : given.byteLength;
      return { totalBytes, work: (codec: Codec, job: Job) => decompressResident(codec, given, target, job) };
    });
  }

  /** `dispose`, for `await using`. */
  [asyncDisposal](): Promise<void> {
    return this.dispose();
  }

  /** Gives engine and memory up once the calls made before are done. Later calls reject with `DISPOSED`. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#last.then(() => {
      this.#watch.end();
      this.#device = null;
      this.#codec.close();
    });
    return this.#disposal;
  }

  /** The level of calls that name none.
   * @internal */
  get level(): Level {
    return this.#level;
  }

  /** Calls `look` with the codec once it is its turn, and returns the result.
   * @internal */
  look<T>(look: (codec: Codec) => T | Promise<T>): Promise<T> {
    return this.#queue(async () => {
      await this.#codec.revive?.();
      return look(this.#codec);
    });
  }

  /** Checks a call now, and runs its work once it is its turn. */
  #start<T, Options extends CallOptions>(options: Options, known: Names<Options>, prepare: () => Prepared<T>): Promise<T> {
    try {
      checkOptions(options, known);
      const { totalBytes, work } = prepare();
      const job = new Job(options, totalBytes);
      return this.run(job, (codec) => work(codec, job));
    } catch (error) {
      return Promise.reject(toPagepressError(error));
    }
  }

  /** Does the same for a call that reads one array, whose buffer is transferred now if the caller wants that. */
  #read<T, Options extends InputOptions>(
    bytes: BytesInput,
    options: Options,
    known: Names<Options>,
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

  #readPages(pages: PackedPagesInput, isStrict: boolean, options: CallOptions): Promise<CheckedPages> {
    return this.#start(options, names.call, () => {
      const checked = checkedPages(pages);
      const { byteLength } = checked;
      const work = async (codec: Codec, job: Job): Promise<Outcome<CheckedPages>> => {
        const outcome = await codec.decompressPages(checked, isStrict, job);
        job.report(byteLength, byteLength, outcome.timing.engine);
        return outcome;
      };
      // Progress of pages counts their content.
      return { totalBytes: byteLength, work };
    });
  }

  /** Runs `work` once it is its turn. Rejects as soon as the job is stopped; the next call waits until the work has stopped.
   * @internal */
  run<T>(job: Job, work: (codec: Codec) => Promise<Outcome<T>>): Promise<T> {
    const result = this.#queue(() => this.#call(job, work));
    return job.signal ? unlessAborted(result, job.signal) : result;
  }

  #queue<T>(turn: () => T | Promise<T>): Promise<T> {
    if (this.#disposal) {
      return Promise.reject(new PagepressError("DISPOSED", "this compressor was disposed of"));
    }
    const result = this.#last.then(turn);
    this.#last = result.catch(() => undefined);
    return result;
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
      this.#device = this.#codec.device();
      this.#watch.watch(this.#device);
    }
  }

  /** Returns the engine as the codec describes it; a lost codec has no description, and the last one stays. */
  #describe(backend: BackendInfo = this.#backend): BackendInfo {
    if (this.#obstacles.length === 0) return backend;
    return { ...backend, reason: "no GPU can be used", rejected: this.#obstacles };
  }
}

/** Returns the properties of `pages` as they are now: the caller may change the object before the call's turn. */
function checkedPages({ packed, table, pageSize, byteLength }: PackedPagesInput): PackedPagesInput {
  checkSize("pageSize", pageSize, 0xffff_ffff);
  checkSize("byteLength", byteLength, MAX_BYTES);
  return {
    packed: unshared(checkedBytes("packed", packed)),
    table: unshared(checkedWords("table", table)),
    pageSize,
    byteLength,
  };
}

/** Returns the input of `decompressResident`, with the properties of pages as they are now. */
function checkedInput(input: ResidentPages | PackedPagesInput | Uint8Array): ResidentPages | PackedPagesInput | Uint8Array {
  if (input instanceof ResidentPages) return input;
  if (viewAs(Uint8Array, input)) return unshared(checkedBytes("bytes", input));
  return checkedPages((input ?? {}) as PackedPagesInput);
}

/** Settles as `result`, or rejects with the signal's reason as soon as it is aborted. */
function unlessAborted<T>(result: Promise<T>, signal: StopSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    if (signal.aborted) abort();
    signal.addEventListener("abort", abort);
    result.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}

/** Runs `work` on the CPU at once. Blocks without a frame have no steps to stop between. */
async function inPlace(work: (cpu: CpuModule) => Uint8Array<ArrayBuffer>): Promise<Outcome<Uint8Array<ArrayBuffer>>> {
  const cpu = loadedCpu() ?? (await load("cpu"));
  const { value, timing } = outcomeOf(() => work(cpu));
  return { value, timing: { ...timing, reason: "blocks without a frame run on the CPU" } };
}
