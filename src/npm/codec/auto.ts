import type { OutputTarget } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import { toPagepressError } from "../base/errors.js";
import type { Job } from "../base/job.js";
import type { BackendInfo, Calibration, CheckedPages, Device, FrameOptions, GpuMemory, PackedPages, PackedPagesInput, Level } from "../base/types.js";
import { isForGpu } from "../format/frame-header.js";
import { PAGE_SIZES, type PagesForm } from "../format/packed-pages.js";
import { declaredSize } from "../modules/content.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import { calibrate } from "./calibrate.js";
import { type Codec, type Compression, type Outcome, type PagesTarget, type ResidentCodec, withPush, withTiming } from "./codec.js";

/** Minimum bytes of a call that is worth a measurement. Smaller calls run on the CPU: they take milliseconds there, and the
 * transfers to a GPU alone take as long. */
const WORTH_MEASURING_BYTES = 1024 * 1024;
/** Error codes of a GPU that failed; the CPU then takes over. */
const GPU_FAULTS = ["DEVICE_LOST", "OUT_OF_MEMORY", "ENGINE", "INTERNAL", "KERNEL_COMPILE"];

const FASTER = "measured to be faster than the CPU for this size";

/** A call for which an engine is chosen. `byteLength` is that of the content; -1 if it is unknown. */
type Task =
  | { kind: "compress"; byteLength: number; pageSize: number; level: Level }
  | { kind: "decompress"; byteLength: number; start: Uint8Array | null };

/** Returns the reason against the GPU that needs no measurement, or null. */
function obstacleTo(task: Task): string | null {
  if (task.kind === "compress") {
    if (!PAGE_SIZES.includes(task.pageSize)) return `GPUs do not take blocks of ${task.pageSize} bytes`;
    if (task.level === "sequential") return "the level sequential is the CPU's";
  } else if (task.start && !isForGpu(task.start)) {
    return "GPUs take frames of independent blocks of at most 64 KiB";
  }
  if (task.byteLength < 0) return "of a stream of unknown length, parts are too small to be worth a GPU's transfers";
  return task.byteLength < WORTH_MEASURING_BYTES ? "too small to be worth a GPU's transfers" : null;
}

/** Returns the reason against the GPU according to the measurement, or null. */
function slownessAt(task: Task, { compressFrom, decompressFrom }: Calibration): string | null {
  const least = task.kind === "compress" ? compressFrom : decompressFrom;
  if (least === null) return "measured here: the CPU is faster at every size";
  return task.byteLength < least ? `measured here: the CPU is faster below ${least} bytes` : null;
}

/** Runs each call on the engine that is measured to be faster for its size. */
export class AutoCodec implements Codec {
  #gpu: Codec | null;
  #failed: Codec | undefined;
  readonly #openCpu: () => Promise<Codec>;
  #cpu: Codec | undefined;
  #calibration: Calibration | undefined;
  #info: BackendInfo;

  constructor(gpu: Codec, openCpu: () => Promise<Codec>, calibration?: Calibration) {
    this.#gpu = gpu;
    this.#openCpu = openCpu;
    const info = gpu.backend();
    this.#info = { ...(info as BackendInfo), reason: `${info?.adapter} is used where it is measured to be faster` };
    if (calibration?.adapter === info?.adapter) this.#calibration = calibration;
  }

  backend(): BackendInfo {
    return this.#info;
  }

  device(): Device | null {
    return this.#gpu?.device?.() ?? null;
  }

  memory(): GpuMemory | null {
    return this.#gpu?.memory?.() ?? null;
  }

  resident(): ResidentCodec | null {
    return this.#gpu?.resident?.() ?? null;
  }

  close(): void {
    for (const codec of [this.#gpu, this.#failed, this.#cpu]) codec?.close?.();
  }

  async revive(): Promise<void> {
    await this.#gpu?.revive?.();
  }

  /** Returns the times of both engines; null once the GPU has failed. */
  async calibrate(): Promise<Calibration | null> {
    if (!this.#gpu) return null;
    this.#calibration ??= await calibrate(this.#gpu, await this.#openedCpu());
    return this.#calibration;
  }

  compress(
    bytes: Uint8Array,
    options: Required<FrameOptions>,
    maxOutputSize: number,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<Bytes>> {
    const task: Task = { kind: "compress", byteLength: bytes.length, pageSize: options.blockSize, level: options.level };
    return this.#run(task, job, (codec) => codec.compress(bytes, options, maxOutputSize, job, dictionary));
  }

  decompress(bytes: Uint8Array, target: OutputTarget, job: Job, dictionary?: DictionaryModule): Promise<Outcome<Bytes>> {
    // Calibrations count content. If no size is declared or more frames follow, the input's length is a lower bound.
    const byteLength = Math.max(declaredSize(target.limit, bytes), bytes.length);
    const task: Task = { kind: "decompress", byteLength, start: bytes };
    return this.#run(task, job, (codec) => codec.decompress(bytes, target, job, dictionary));
  }

  async beginCompression(options: Required<FrameOptions>, contentSize: number, dictionary?: DictionaryModule): Promise<Compression> {
    const task: Task = { kind: "compress", byteLength: contentSize, pageSize: options.blockSize, level: options.level };
    const reason = await this.#reasonAgainstGpu(task);
    const codec = reason === null && this.#gpu ? this.#gpu : await this.#openedCpu();
    const session = await codec.beginCompression(options, contentSize, dictionary);
    return withPush(session, async (...part) => withTiming(await session.push(...part), { reason: reason ?? FASTER }));
  }

  compressPages(
    bytes: Uint8Array,
    form: PagesForm,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<PackedPages>> {
    const task: Task = { kind: "compress", byteLength: bytes.length, pageSize: form.pageSize, level: form.level };
    return this.#run(task, job, (codec) => codec.compressPages(bytes, form, job, dictionary));
  }

  decompressPages(
    pages: PackedPagesInput,
    target: PagesTarget,
    job: Job,
    dictionary?: DictionaryModule,
  ): Promise<Outcome<CheckedPages>> {
    const task: Task = { kind: "decompress", byteLength: pages.byteLength, start: null };
    return this.#run(task, job, (codec) => codec.decompressPages(pages, target, job, dictionary));
  }

  /** Runs `work` on the engine for `task`, and on the CPU if the GPU fails. */
  async #run<T>(task: Task, job: Job, work: (codec: Codec) => Promise<Outcome<T>>): Promise<Outcome<T>> {
    let reason = await this.#reasonAgainstGpu(task);
    if (reason === null && this.#gpu) {
      try {
        const outcome = await work(this.#gpu);
        return outcome.timing.engine === "webgpu" ? withTiming(outcome, { reason: FASTER }) : outcome;
      } catch (error) {
        if (job.isStopped || job.isThrown(error)) throw error;
        reason = this.#giveUp(error);
      }
    }
    return withTiming(await work(await this.#openedCpu()), { reason: reason ?? this.#info.reason });
  }

  /** Returns the reason why the GPU does not run `task`, or null. */
  async #reasonAgainstGpu(task: Task): Promise<string | null> {
    if (!this.#gpu) return this.#info.reason;
    const obstacle = obstacleTo(task);
    if (obstacle !== null) return obstacle;
    try {
      const calibration = await this.calibrate();
      return calibration ? slownessAt(task, calibration) : this.#info.reason;
    } catch (error) {
      return this.#giveUp(error);
    }
  }

  /** Stops using the GPU and returns the reason if `thrown` is an error of the GPU; else throws the error. */
  #giveUp(thrown: unknown): string {
    const error = toPagepressError(thrown);
    if (!GPU_FAULTS.includes(error.code)) throw error;
    const rejected = [...this.#info.rejected, { candidate: this.#info.adapter ?? "GPU", reason: error.message }];
    this.#info = { engine: "cpu", adapter: null, software: false, reason: "the GPU failed", rejected };
    this.#failed = this.#gpu ?? undefined;
    this.#gpu = null;
    return `the GPU failed: ${error.message}`;
  }

  async #openedCpu(): Promise<Codec> {
    this.#cpu ??= await this.#openCpu();
    return this.#cpu;
  }
}
