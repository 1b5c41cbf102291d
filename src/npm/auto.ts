import { calibrate } from "./calibrate.js";
import { PagepressError, toPagepressError } from "./errors.js";
import { isForGpu } from "./frame.js";
import type { Call, Codec, Compression, Decompression, ResidentCodec, Task } from "./codec.js";
import { PAGE_SIZES } from "./packed-pages.js";
import { driveWithin, PromiseCall } from "./promise-call.js";
import { residentCodec } from "./resident.js";
import type { BackendInfo, Calibration, CheckedPages, Device, FrameOptions, PackedPages, ResidentPart } from "./types.js";

/** Calls of less than this run on the CPU unmeasured: there it takes milliseconds, as transfers alone do. */
const WORTH_MEASURING_BYTES = 1024 * 1024;
/** Faults of a GPU, after which the CPU goes on. */
const gpuFaults = ["DEVICE_LOST", "OUT_OF_MEMORY", "ENGINE", "INTERNAL", "KERNEL_COMPILE"];

const FASTER = "measured to be faster than the CPU for this size";

/** An engine, and why it is this one. */
interface Chosen {
  codec: Codec;
  reason: string;
}

/** Two engines, of which each call takes the one that is measured to be faster for its size. */
export class AutoCodec implements Codec {
  #gpu: Codec | null;
  #lost: Codec | undefined;
  #cpu: () => Promise<Codec>;
  #opened: Codec | undefined;
  #calibration: Calibration | undefined;
  #info: BackendInfo;
  #next: Chosen | undefined;
  #owners = new WeakMap<object, Chosen>();

  constructor(gpu: Codec, cpu: () => Promise<Codec>, calibration?: Calibration) {
    this.#gpu = gpu;
    this.#cpu = cpu;
    const info = gpu.backend();
    this.#info = { ...(info as BackendInfo), reason: `${info?.adapter} is used where it is measured to be faster` };
    if (calibration?.adapter === info?.adapter) this.#calibration = calibration;
  }

  backend(): BackendInfo | undefined {
    return this.#info;
  }

  device(): Device | null {
    return this.#gpu?.device() ?? null;
  }

  close(): void {
    for (const codec of [this.#gpu, this.#lost, this.#opened]) codec?.close();
  }

  free(): void {
    for (const codec of [this.#gpu, this.#lost, this.#opened]) codec?.free();
  }

  async revive(): Promise<void> {
    await this.#gpu?.revive?.();
  }

  /** The times of both engines; null once the GPU was given up. */
  async calibrate(): Promise<Calibration | null> {
    if (!this.#gpu) return null;
    this.#calibration ??= await calibrate(this.#gpu, await this.#onCpu());
    return this.#calibration;
  }

  /** Sets the engine for the frames begun next. */
  async prepare(task: Task): Promise<void> {
    const from = task.kind === "compress" ? "compressFrom" : "decompressFrom";
    const reason = obstacleTo(task) ?? (await this.#against(from, task.length));
    const codec = reason === null && this.#gpu ? this.#gpu : await this.#onCpu();
    this.#next = { codec, reason: reason ?? FASTER };
  }

  giveUp(error: unknown): boolean {
    const { code } = toPagepressError(error);
    if (!this.#gpu || this.#next?.codec !== this.#gpu || !gpuFaults.includes(code)) return false;
    this.#giveUp(error);
    return true;
  }

  beginCompression(...args: Parameters<Codec["beginCompression"]>): Compression {
    return this.#own(this.#prepared().codec.beginCompression(...args));
  }

  compressPart(session: Compression, isLast: boolean): Call<Uint8Array<ArrayBuffer>> {
    const { codec, reason } = this.#owner(session);
    return withReason(codec.compressPart(session, isLast), reason);
  }

  beginDecompression(maxOutputSize: number, isStream: boolean): Decompression {
    return this.#own(this.#prepared().codec.beginDecompression(maxOutputSize, isStream));
  }

  decompressPart(session: Decompression): Call<Uint8Array<ArrayBuffer> | null> {
    const { codec, reason } = this.#owner(session);
    return withReason(codec.decompressPart(session), reason);
  }

  compressFrame(bytes: Uint8Array, options: Required<FrameOptions>): Call<Uint8Array<ArrayBuffer>> | undefined {
    const { codec, reason } = this.#prepared();
    const call = codec.compressFrame?.(bytes, options);
    return call && withReason(call, reason);
  }

  decompressFrames(bytes: Uint8Array, maxOutputSize: number): Call<Uint8Array<ArrayBuffer>> | undefined {
    const { codec, reason } = this.#prepared();
    const call = codec.decompressFrames?.(bytes, maxOutputSize);
    return call && withReason(call, reason);
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages> {
    const call = (codec: Codec): Call<PackedPages> => codec.compressPages(bytes, pageSize, level);
    return this.#choose("compressFrom", bytes.length, call, obstacleIn(level));
  }

  decompressPages(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<Uint8Array<ArrayBuffer>> {
    return this.#choose("decompressFrom", byteLength, (codec) =>
      codec.decompressPages(packed, table, pageSize, byteLength),
    );
  }

  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<CheckedPages> {
    return this.#choose("decompressFrom", byteLength, (codec) =>
      codec.decompressPagesStatus(packed, table, pageSize, byteLength),
    );
  }

  compressResident(...args: Parameters<ResidentCodec["compressResident"]>): Call<ResidentPart[]> {
    return residentCodec(this.#gpu).compressResident(...args);
  }

  decompressResident(...args: Parameters<ResidentCodec["decompressResident"]>): Call<null> {
    return residentCodec(this.#gpu).decompressResident(...args);
  }

  #prepared(): Chosen {
    if (!this.#next) throw new PagepressError("ENGINE", "no engine was chosen");
    return this.#next;
  }

  /** Remembers whose the session is. */
  #own<S extends object>(session: S): S {
    this.#owners.set(session, this.#prepared());
    return session;
  }

  #owner(session: object): Chosen {
    return this.#owners.get(session) ?? this.#prepared();
  }

  #choose<T>(
    from: "compressFrom" | "decompressFrom",
    nBytes: number,
    call: (codec: Codec) => Call<T>,
    obstacle: string | null = null,
  ): Call<T> {
    return new PromiseCall(async (control) => {
      let reason = obstacle ?? (await this.#against(from, nBytes));
      if (reason === null && this.#gpu) {
        try {
          const { value, timing } = await driveWithin(control, call(this.#gpu));
          return { value, timing: { ...timing, reason: FASTER } };
        } catch (error) {
          reason = this.#giveUp(error);
        }
      }
      const { value, timing } = await driveWithin(control, call(await this.#onCpu()));
      return { value, timing: { ...timing, reason: reason ?? this.#info.reason } };
    });
  }

  /** Why the GPU does not take a call of this size; null if it does. */
  async #against(from: "compressFrom" | "decompressFrom", nBytes: number): Promise<string | null> {
    if (!this.#gpu) return this.#info.reason;
    if (nBytes < 0) return "of a stream of unknown length, parts are too small to be worth a GPU's transfers";
    if (nBytes < WORTH_MEASURING_BYTES) return "too small to be worth a GPU's transfers";
    try {
      const least = (await this.calibrate())?.[from] ?? null;
      if (least === null) return "measured here: the CPU is faster at every size";
      return nBytes < least ? `measured here: the CPU is faster below ${least} bytes` : null;
    } catch (error) {
      return this.#giveUp(error);
    }
  }

  /** Goes on with the CPU if it is the GPU that failed, and says so; throws other errors. */
  #giveUp(thrown: unknown): string {
    const error = toPagepressError(thrown);
    if (!gpuFaults.includes(error.code)) throw error;
    const rejected = [...this.#info.rejected, { candidate: this.#info.adapter ?? "GPU", reason: error.message }];
    this.#info = { engine: "cpu", adapter: null, software: false, reason: "the GPU failed", rejected };
    this.#lost = this.#gpu ?? undefined;
    this.#gpu = null;
    return `the GPU failed: ${error.message}`;
  }

  async #onCpu(): Promise<Codec> {
    this.#opened ??= await this.#cpu();
    return this.#opened;
  }
}

/** Why no GPU takes this frame, whatever its size. */
function obstacleTo(task: Task): string | null {
  if (task.kind === "compress") {
    const isPage = PAGE_SIZES.includes(task.blockSize);
    return isPage ? obstacleIn(task.level) : `GPUs do not take blocks of ${task.blockSize} bytes`;
  }
  return !task.start || isForGpu(task.start) ? null : "GPUs take frames of independent blocks of at most 64 KiB";
}

/** Why no GPU compresses at this level. */
function obstacleIn(level: string): string | null {
  return level === "sequential" ? "the level sequential is the CPU's" : null;
}

/** `call`, whose outcome gives this reason. */
function withReason<T>(call: Call<T>, reason: string): Call<T> {
  return {
    poll(wake) {
      const outcome = call.poll(wake);
      return outcome && { ...outcome, timing: { ...outcome.timing, reason } };
    },
    cancel: () => call.cancel(),
    bytesIn: () => call.bytesIn(),
    bytesOut: () => call.bytesOut(),
    engine: () => call.engine(),
    free: () => call.free(),
  };
}
