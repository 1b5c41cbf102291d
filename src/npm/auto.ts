import { calibrate } from "./calibrate.js";
import { drive } from "./drive.js";
import { toPagepressError } from "./errors.js";
import { isForGpu } from "./frame.js";
import type { Call, Codec, Outcome } from "./glue.js";
import { PromiseCall } from "./promise-call.js";
import type { BackendInfo, Calibration, CheckedPages, Device, PackedPages } from "./types.js";

/** Calls of less than this run on the CPU unmeasured: there it takes milliseconds, as transfers alone do. */
const WORTH_MEASURING_BYTES = 1024 * 1024;
/** Faults of a GPU, after which the CPU goes on. */
const gpuFaults = ["DEVICE_LOST", "OUT_OF_MEMORY", "ENGINE", "KERNEL_COMPILE"];

/** Two engines, of which each call takes the one that is measured to be faster for its size. */
export class AutoCodec implements Codec {
  #gpu: Codec | null;
  #lost: Codec | undefined;
  #cpu: () => Promise<Codec>;
  #opened: Codec | undefined;
  #calibration: Calibration | undefined;
  #info: BackendInfo;

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

  /** The times of both engines; null once the GPU was given up. */
  async calibrate(): Promise<Calibration | null> {
    if (!this.#gpu) return null;
    this.#calibration ??= await calibrate(this.#gpu, await this.#onCpu());
    return this.#calibration;
  }

  compress(
    bytes: Uint8Array,
    blockSize: number,
    level: string,
    contentChecksum: boolean,
    blockChecksums: boolean,
  ): Call<Uint8Array<ArrayBuffer>> {
    const isPage = [4096, 8192, 16384, 32768, 65536].includes(blockSize);
    const obstacle = isPage ? null : `GPUs do not take blocks of ${blockSize} bytes`;
    return this.#choose("compressFrom", bytes.length, obstacle, (codec) =>
      codec.compress(bytes, blockSize, level, contentChecksum, blockChecksums),
    );
  }

  decompress(bytes: Uint8Array, maxOutputSize: number): Call<Uint8Array<ArrayBuffer>> {
    const obstacle = isForGpu(bytes) ? null : "GPUs take frames of independent blocks of at most 64 KiB";
    return this.#choose("decompressFrom", bytes.length, obstacle, (codec) => codec.decompress(bytes, maxOutputSize));
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages> {
    return this.#choose("compressFrom", bytes.length, null, (codec) => codec.compressPages(bytes, pageSize, level));
  }

  decompressPages(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<Uint8Array<ArrayBuffer>> {
    return this.#choose("decompressFrom", byteLength, null, (codec) =>
      codec.decompressPages(packed, table, pageSize, byteLength),
    );
  }

  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<CheckedPages> {
    return this.#choose("decompressFrom", byteLength, null, (codec) =>
      codec.decompressPagesStatus(packed, table, pageSize, byteLength),
    );
  }

  #choose<T>(
    from: "compressFrom" | "decompressFrom",
    nBytes: number,
    obstacle: string | null,
    call: (codec: Codec) => Call<T>,
  ): Call<T> {
    const run = async (): Promise<Outcome<T>> => {
      let reason = obstacle ?? (await this.#against(from, nBytes));
      if (reason === null && this.#gpu) {
        try {
          const { value, timing } = await drive(call(this.#gpu));
          return { value, timing: { ...timing, reason: "measured to be faster than the CPU for this size" } };
        } catch (error) {
          reason = this.#giveUp(error);
        }
      }
      const { value, timing } = await drive(call(await this.#onCpu()));
      return { value, timing: { ...timing, reason: reason ?? this.#info.reason } };
    };
    return new PromiseCall(run());
  }

  /** Why the GPU does not take a call of this size; null if it does. */
  async #against(from: "compressFrom" | "decompressFrom", nBytes: number): Promise<string | null> {
    if (!this.#gpu) return this.#info.reason;
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
