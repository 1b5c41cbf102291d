import { checkBytes, checkSize, checkWords, MAX_BYTES } from "./arguments.js";
import { describe } from "./capabilities.js";
import { DeviceWatch } from "./device-watch.js";
import { drive } from "./drive.js";
import { PagepressError, toPagepressError } from "./errors.js";
import type { Call, Codec } from "./glue.js";
import type { Opened } from "./open.js";
import type {
  BackendInfo,
  Capabilities,
  CheckedPages,
  CompressOptions,
  CompressPagesOptions,
  DecompressOptions,
  Device,
  DeviceCounters,
  DeviceLoss,
  Level,
  PackedPages,
  PackedPagesInput,
  Timing,
} from "./types.js";

/** Compresses and decompresses LZ4 frames and batches of pages on one engine. Made by `createCompressor`.
 *
 * Calls run one after the other in the order they were made. */
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

  /** How many devices were lost and replaced. */
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

  /** Where the time of the last call that succeeded went; null before. */
  get lastTiming(): Timing | null {
    return this.#timing;
  }

  /** Compresses `bytes` to an LZ4 frame, which is what an `.lz4` file is. */
  compress(bytes: Uint8Array, options: CompressOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#run((codec) => {
      const { blockSize = 65536, level = this.#level } = options;
      const { contentChecksum = true, blockChecksums = false } = options;
      checkBytes("bytes", bytes);
      checkSize("blockSize", blockSize, 0xffff_ffff);
      return codec.compress(bytes, blockSize, level, contentChecksum, blockChecksums);
    });
  }

  /** Decompresses all LZ4 frames in `bytes`. */
  decompress(bytes: Uint8Array, options: DecompressOptions = {}): Promise<Uint8Array<ArrayBuffer>> {
    return this.#run((codec) => {
      const { maxOutputSize = MAX_BYTES } = options;
      checkBytes("bytes", bytes);
      checkSize("maxOutputSize", maxOutputSize, Number.MAX_SAFE_INTEGER);
      return codec.decompress(bytes, Math.min(maxOutputSize, MAX_BYTES));
    });
  }

  /** Compresses `bytes` page by page. They are read while the call runs, so leave them as they are until it is done. */
  compressPages(bytes: Uint8Array, options: CompressPagesOptions = {}): Promise<PackedPages> {
    return this.#run((codec) => {
      const { pageSize = 4096, level = this.#level } = options;
      checkBytes("bytes", bytes);
      checkSize("pageSize", pageSize, 0xffff_ffff);
      return codec.compressPages(bytes, pageSize, level);
    });
  }

  /** Decompresses pages; rejects with `CORRUPT_PAGE` if one is wrong. They are read while the call runs. */
  decompressPages(pages: PackedPagesInput): Promise<Uint8Array<ArrayBuffer>> {
    return this.#run((codec) => {
      checkPages(pages);
      return codec.decompressPages(pages.packed, pages.table, pages.pageSize, pages.byteLength);
    });
  }

  /** Decompresses pages and says of each whether it is sound, and if not, why. They are read while the call runs. */
  checkPages(pages: PackedPagesInput): Promise<CheckedPages> {
    return this.#run((codec) => {
      checkPages(pages);
      return codec.decompressPagesStatus(pages.packed, pages.table, pages.pageSize, pages.byteLength);
    });
  }

  /** Gives engine and memory up once the calls made before are done. Later calls reject with `DISPOSED`. */
  dispose(): Promise<void> {
    this.#disposal ??= this.#last.then(() => {
      this.#watch.end();
      this.#device = null;
      this.#codec.close();
      this.#codec.free();
    });
    return this.#disposal;
  }

  #run<T>(call: (codec: Codec) => Call<T>): Promise<T> {
    if (this.#disposal) {
      return Promise.reject(new PagepressError("DISPOSED", "this compressor was disposed of"));
    }
    const result = this.#last.then(() => this.#call(call));
    this.#last = result.catch(() => undefined);
    return result;
  }

  async #call<T>(call: (codec: Codec) => Call<T>): Promise<T> {
    try {
      const { value, timing } = await drive(call(this.#codec));
      const isFallback = this.#obstacles.length > 0;
      this.#timing = isFallback ? { ...timing, reason: this.#backend.reason } : timing;
      return value;
    } catch (error) {
      throw toPagepressError(error);
    } finally {
      this.#backend = this.#describe(this.#codec.backend());
      this.#device = this.#codec.device();
      this.#watch.watch(this.#device);
    }
  }

  /** The engine as the codec tells; a codec that was lost tells nothing. */
  #describe(backend: BackendInfo = this.#backend): BackendInfo {
    if (this.#obstacles.length === 0) return backend;
    return { ...backend, reason: "no GPU can be used", rejected: this.#obstacles };
  }
}

function checkPages(pages: PackedPagesInput): void {
  checkBytes("packed", pages.packed);
  checkWords("table", pages.table);
  checkSize("pageSize", pages.pageSize, 0xffff_ffff);
  checkSize("byteLength", pages.byteLength, MAX_BYTES);
}
