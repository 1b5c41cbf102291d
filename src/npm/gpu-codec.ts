import { ContentPart } from "./content-part.js";
import { CpuCodec } from "./cpu-codec.js";
import { compressFrame, decompressFrame, GpuCompression } from "./gpu-frames.js";
import type { Call, Codec, Compression, Decompression, Outcome } from "./codec.js";
import type { GpuModule } from "./gpu-module.js";
import { ModuleCall, REASON } from "./module-call.js";
import { type Bytes, Held } from "./module-memory.js";
import { levelFlag, type Plain } from "./plain.js";
import { type Control, PromiseCall } from "./promise-call.js";
import type { BackendInfo, CheckedPages, Device, DeviceBuffer, FrameOptions, PackedPages, ResidentPart } from "./types.js";
import { PAGE_SIZES, ratioOf } from "./packed-pages.js";
import type { OpenDevice } from "./webgpu-device.js";

/** Content of a part of a call, and of a stream, whose memory is to stay small: as much as the module has in flight, and
 * one job of that. */
const PART_BYTES = { call: 128 * 2 ** 20, stream: 32 * 2 ** 20 };

/** A codec of the module. */
export class HeldCodec extends Held<GpuModule> {
  constructor(module: GpuModule, at: number) {
    super(module, at, module.exports.free_codec);
  }

  override use<T>(work: (at: number) => T): T {
    return super.use(work);
  }
}

/** The codec of a GPU. Pages are its own; headers, checksums and whatever is no page are the CPU's. */
export class GpuCodec implements Codec {
  readonly module: GpuModule;
  readonly #open: () => Promise<HeldCodec>;
  readonly #plain: Plain;
  readonly #cpu: CpuCodec;
  #held: HeldCodec;

  /** `open` opens another codec of the module, on a new device. */
  constructor(module: GpuModule, held: HeldCodec, open: () => Promise<HeldCodec>, plain: Plain) {
    this.module = module;
    this.#held = held;
    this.#open = open;
    this.#plain = plain;
    this.#cpu = new CpuCodec(plain);
  }

  async revive(): Promise<void> {
    if (this.#held.isLost) this.#held = await this.#open();
  }

  backend(): BackendInfo | undefined {
    const device = this.#device();
    if (!device) return undefined;
    const { name, software } = device;
    const adapter = `${name || "unnamed adapter"} (webgpu, ${software ? "software" : "unknown kind"})`;
    return { engine: "webgpu", adapter, software, reason: REASON, rejected: [] };
  }

  device(): Device | null {
    return (this.#device()?.device as Device | undefined) ?? null;
  }

  /** The device, unless a call has the codec or it is lost. */
  #device(): OpenDevice | undefined {
    if (this.#held.isLost) return undefined;
    const number = this.#held.use((at) => this.module.exports.codec_device(at));
    return this.module.values.get(number);
  }

  close(): void {
    this.free();
  }

  free(): void {
    this.#held.free();
  }

  beginCompression(options: Required<FrameOptions>, contentSize: number, isStream: boolean): Compression {
    if (!isForPages(options)) return this.#cpu.beginCompression(options, contentSize, isStream);
    const held = new ContentPart(isStream ? PART_BYTES.stream : PART_BYTES.call, isStream);
    return new GpuCompression(this, this.#plain, gpuOptions(options), contentSize, held);
  }

  compressPart(session: Compression, isLast: boolean): Call<Bytes> {
    if (!(session instanceof GpuCompression)) return this.#cpu.compressPart(session, isLast);
    return timed((control) => session.compress(isLast, control));
  }

  compressFrame(bytes: Uint8Array, options: Required<FrameOptions>): Call<Bytes> | undefined {
    if (!isForPages(options) || bytes.length === 0) return undefined;
    const frame = new GpuCompression(this, this.#plain, gpuOptions(options), bytes.length, new ContentPart(0, false));
    return timed((control) => compressFrame(frame, bytes, PART_BYTES.call, control));
  }

  /** Streams are decompressed by the CPU: their parts are not worth the way to a GPU and back. */
  beginDecompression(maxOutputSize: number): Decompression {
    return this.#cpu.beginDecompression(maxOutputSize);
  }

  decompressPart(session: Decompression): Call<Bytes | null> {
    return this.#cpu.decompressPart(session);
  }

  decompressFrames(bytes: Uint8Array, maxOutputSize: number): Call<Bytes> {
    return timed((control) => decompressFrame(this, this.#plain, bytes, maxOutputSize, control));
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages> {
    const { exports, values } = this.module;
    const flags = levelFlag(gpuLevel(level));
    const call = this.#held.use((at) => exports.gpu_compress_pages(at, values.add(bytes), pageSize, flags));
    const byteLength = bytes.length;
    const read = (number: number, entries: Bytes): PackedPages => {
      const packed = values.take<Bytes>(number);
      const table = new Uint32Array(entries.slice().buffer);
      return { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength) };
    };
    // The last byte is done when the call is.
    return new ModuleCall(this.module, call, read, (nPages, nBytes) => [Math.min(nPages * pageSize, byteLength - 1), nBytes]);
  }

  decompressPages(packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number): Call<Bytes> {
    return this.#decompress(packed, table, pageSize, byteLength, true, ({ bytes }) => bytes);
  }

  decompressPagesStatus(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
  ): Call<CheckedPages> {
    return this.#decompress(packed, table, pageSize, byteLength, false, (checked) => checked);
  }

  #decompress<T>(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
    isStrict: boolean,
    take: (checked: { bytes: Bytes; status: Bytes }) => T,
  ): Call<T> {
    const { module } = this;
    const { exports, values } = module;
    const words = new Uint8Array(table.buffer, table.byteOffset, table.byteLength);
    const call = this.#held.use((at) => {
      const entries = module.give(words);
      return exports.gpu_decompress_pages(at, values.add(packed), ...entries, pageSize, byteLength, isStrict ? 1 : 0);
    });
    const read = (number: number, status: Bytes): T => take({ bytes: values.take(number), status: status.slice() });
    return new ModuleCall(module, call, read, (nPages) => {
      const done = Math.min(nPages * pageSize, byteLength - 1);
      return [done, done];
    });
  }

  compressResident(
    buffer: DeviceBuffer,
    byteLength: number,
    pageSize: number,
    level: string,
    make: (bytes: number) => DeviceBuffer,
  ): Call<ResidentPart[]> {
    const { exports, values } = this.module;
    const made: DeviceBuffer[] = [];
    const maker = values.add((bytes: number) => {
      made.push(make(bytes));
      return made[made.length - 1];
    });
    const flags = levelFlag(gpuLevel(level));
    const call = this.#held.use((at) =>
      exports.compress_resident(at, values.add(buffer), byteLength, pageSize, flags, maker),
    );
    return new ModuleCall(this.module, call, (_, bytes) => {
      const numbers = new Float64Array(bytes.slice().buffer);
      return Array.from({ length: numbers.length / 2 }, (_, i) => ({
        packed: made[2 * i] as DeviceBuffer,
        packedBytes: numbers[2 * i] as number,
        table: made[2 * i + 1] as DeviceBuffer,
        byteLength: numbers[2 * i + 1] as number,
      }));
    });
  }

  decompressResident(parts: ResidentPart[], pageSize: number, buffer: DeviceBuffer): Call<null> {
    const { exports, values } = this.module;
    const numbers = parts.flatMap(({ packed, packedBytes, table, byteLength }) => [
      values.add(packed),
      packedBytes,
      values.add(table),
      byteLength,
    ]);
    const given = new Uint8Array(Float64Array.from(numbers).buffer);
    const call = this.#held.use((at) => {
      return exports.decompress_resident(at, ...this.module.give(given), pageSize, values.add(buffer));
    });
    return new ModuleCall(this.module, call, () => null);
  }
}

/** The level that a GPU takes for `level`. */
function gpuLevel<T extends string>(level: T): T | "fast" {
  return level === "auto" ? "fast" : level;
}

function gpuOptions(options: Required<FrameOptions>): Required<FrameOptions> {
  return { ...options, level: gpuLevel(options.level) };
}

/** Whether kernels compress the blocks of such frames. */
function isForPages({ blockSize, level }: Required<FrameOptions>): boolean {
  return PAGE_SIZES.includes(blockSize) && level !== "sequential";
}

/** A call whose time in all is that of `work`, not of the GPU's part in it. */
function timed<T>(work: (control: Control) => Promise<Outcome<T>>): Call<T> {
  return new PromiseCall(async (control) => {
    const start = performance.now();
    const { value, timing } = await work(control);
    return { value, timing: { ...timing, totalNs: Math.round((performance.now() - start) * 1e6) } };
  });
}
