import type { OutputTarget } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import { cancelled, type Job } from "../base/job.js";
import type {
  BackendInfo, CheckedPages, Device, FrameOptions, GpuMemory, PackedPages, PackedPagesInput,
} from "../base/types.js";
import { PAGE_SIZES, type PagesForm, ratioOf } from "../format/packed-pages.js";
import type { CpuModule } from "../modules/cpu-module.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { levelNumber } from "../modules/enums.js";
import { lost } from "../modules/instance.js";
import type { GpuModule } from "../modules/load.js";
import type * as Gpu from "../wasm/gpu.js";
import { type Codec, type Compression, type Outcome, type PagesTarget, type ProgressOf, type ResidentCodec, withTiming } from "./codec.js";
import { CpuCodec } from "./cpu.js";
import { compressFrame, decompressFrame, GpuCompression } from "./gpu-frames.js";
import { gpuTiming, REASON } from "./gpu-timing.js";

/** Opens a GPU. */
export type OpenGpu = (module: GpuModule) => Promise<Gpu.GpuCodec>;

/** Compresses and decompresses on a GPU. Frames that the GPU does not support fall back to the CPU codec. Frame headers and
 * content checksums are computed on the CPU. */
export class GpuCodec implements Codec, ResidentCodec {
  readonly module: GpuModule;
  readonly #open: OpenGpu;
  readonly #cpu: CpuModule;
  readonly #cpuCodec: CpuCodec;
  /** The codec of the module, with the generation of the instance that contains it. Undefined after `close`. */
  #opened: { readonly codec: Gpu.GpuCodec; readonly generation: number } | undefined;
  /** The dictionaries of earlier calls in the module. */
  readonly #dictionaries = new WeakMap<DictionaryModule, { readonly handle: Gpu.GpuDictionary; readonly generation: number }>();

  private constructor(module: GpuModule, cpu: CpuModule, open: OpenGpu) {
    this.module = module;
    this.#open = open;
    this.#cpu = cpu;
    this.#cpuCodec = new CpuCodec(cpu);
  }

  /** Opens a GPU. `cpu` assembles its blocks to frames. */
  static async open(module: GpuModule, cpu: CpuModule, open: OpenGpu): Promise<GpuCodec> {
    const codec = new GpuCodec(module, cpu, open);
    await codec.#reopen();
    return codec;
  }

  async revive(): Promise<void> {
    if (this.#opened && !this.#gpu) await this.#reopen();
  }

  async #reopen(): Promise<void> {
    // Read before the call: if the instance is replaced meanwhile, the codec is lost with it.
    const { generation } = this.module;
    this.#opened = { codec: await this.module.call(() => this.#open(this.module)), generation };
  }

  /** The codec of the module; undefined after `close`, and once its instance was replaced: its memory belongs to another
   * object then. */
  get #gpu(): Gpu.GpuCodec | undefined {
    return this.#opened?.generation === this.module.generation ? this.#opened.codec : undefined;
  }

  backend(): BackendInfo | undefined {
    if (!this.#gpu) return undefined;
    const { name, software, rejected: texts } = this.#gpu;
    const adapter = `${name || "unnamed adapter"} (webgpu${software ? ", software" : ""})`;
    const rejected: { candidate: string; reason: string }[] = [];
    for (let i = 0; i + 1 < texts.length; i += 2) rejected.push({ candidate: texts[i] ?? "", reason: texts[i + 1] ?? "" });
    return { engine: "webgpu", adapter, software, reason: REASON, rejected };
  }

  device(): Device | null {
    return (this.#gpu?.device() as Device | undefined) ?? null;
  }

  memory(): GpuMemory | null {
    return this.#gpu?.memory ?? null;
  }

  resident(): ResidentCodec {
    return this;
  }

  close(): void {
    this.#gpu?.free();
    this.#opened = undefined;
  }

  async beginCompression(options: Required<FrameOptions>, contentSize: number, dictionary?: DictionaryModule): Promise<Compression> {
    if (!isForPages(options)) return this.#cpuCodec.beginCompression(options, contentSize, dictionary);
    return new GpuCompression(this, this.#cpu, options, contentSize, dictionary);
  }

  async compress(
    bytes: Uint8Array,
    options: Required<FrameOptions>,
    maxOutputSize: number,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<Bytes>> {
    if (!isForPages(options) || bytes.length === 0) return this.#cpuCodec.compress(bytes, options, maxOutputSize, job, dictionary);
    const start = performance.now();
    const frame = new GpuCompression(this, this.#cpu, options, bytes.length, dictionary);
    return since(start, await compressFrame(frame, bytes, maxOutputSize, job));
  }

  async decompress(bytes: Uint8Array, target: OutputTarget, job: Job, dictionary?: DictionaryModule): Promise<Outcome<Bytes>> {
    const start = performance.now();
    const outcome = await decompressFrame(this, this.#cpu, bytes, target, job, dictionary);
    return outcome ? since(start, outcome) : this.#cpuCodec.decompress(bytes, target, job, dictionary);
  }

  async compressPages(
    bytes: Uint8Array,
    form: PagesForm,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<PackedPages>> {
    const byteLength = bytes.length;
    const { pageSize, level, into } = form;
    // The last byte counts as processed when the call has returned.
    const progressOf: ProgressOf = (pageBytes, blockBytes) => [Math.min(pageBytes, byteLength - 1), blockBytes];
    const { packed, table, timing } = await this.call(job, progressOf, (gpu, onProgress) =>
      gpu.compressPages(bytes, pageSize, levelNumber(level, "fast"), into, onProgress, this.taken(dictionary)),
    );
    const ratio = ratioOf(byteLength, packed.length + table.byteLength);
    return { value: { packed, table, pageSize, byteLength, ratio, dictionaryId: dictionary?.dictionaryId ?? 0 }, timing: gpuTiming(timing) };
  }

  async decompressPages(
    pages: PackedPagesInput,
    target: PagesTarget,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<CheckedPages>> {
    const { packed, table, pageSize, byteLength } = pages;
    const progressOf: ProgressOf = (pageBytes) => {
      const done = Math.min(pageBytes, byteLength - 1);
      return [done, done];
    };
    const { timing, ...value } = await this.call(job, progressOf, (gpu, onProgress) =>
      gpu.decompressPages(packed, table, pageSize, byteLength, target.into, target.isStrict, onProgress, this.taken(dictionary)),
    );
    return { value, timing: gpuTiming(timing) };
  }

  taken(dictionary: DictionaryModule | undefined): Gpu.GpuDictionary | undefined {
    if (!dictionary) return undefined;
    const { generation } = this.module;
    let known = this.#dictionaries.get(dictionary);
    if (known?.generation !== generation) {
      const { sent, dictionaryId } = dictionary;
      known = { handle: this.module.make(({ GpuDictionary }) => new GpuDictionary(sent.bytes, dictionaryId)), generation };
      this.#dictionaries.set(dictionary, known);
    }
    return known.handle.clone();
  }

  async call<T>(
    job: Job,
    progressOf: ProgressOf,
    work: (gpu: Gpu.GpuCodec, onProgress: Gpu.GpuProgress) => Promise<T>,
    undo?: (made: T) => void,
  ): Promise<T> {
    const gpu = this.#gpu;
    if (!gpu) throw lost();
    let thrown: { error: unknown } | undefined;
    const onProgress: Gpu.GpuProgress = (pageBytes, blockBytes) => {
      try {
        job.report(...progressOf(pageBytes, blockBytes), "webgpu");
        return !job.isStopped;
      } catch (error) {
        thrown = { error };
        return false;
      }
    };
    const made = await this.module.call(() => work(gpu, onProgress)).catch((error: unknown) => {
      throw thrown ? thrown.error : error;
    });
    if (!job.isStopped) return made;
    undo?.(made);
    throw cancelled();
  }
}

/** Returns true if the GPU kernels can compress the blocks of such frames. */
function isForPages({ blockSize, level }: Required<FrameOptions>): boolean {
  return PAGE_SIZES.includes(blockSize) && level !== "sequential";
}

/** Returns the outcome with the time since `start` as its total; the total of the GPU module is only a part of it. */
function since<T>(start: number, outcome: Outcome<T>): Outcome<T> {
  return withTiming(outcome, { totalNs: Math.round((performance.now() - start) * 1e6) });
}
