import { CpuCodec, type CpuCompression } from "./cpu-codec.js";
import { compressFrame, decompressFrame, putPages } from "./gpu-frames.js";
import type { Call, Codec, Compression, Decompression } from "./codec.js";
import type { GpuModule } from "./gpu-module.js";
import { ModuleCall, REASON } from "./module-call.js";
import { type Bytes, Held } from "./module-memory.js";
import { FrameCompression, levelFlag, type Plain } from "./plain.js";
import { driveWithin, PromiseCall } from "./promise-call.js";
import type { BackendInfo, CheckedPages, Device, DeviceBuffer, FrameOptions, PackedPages, ResidentPart } from "./types.js";
import { PAGE_SIZES, ratioOf } from "./packed-pages.js";
import type { OpenDevice } from "./webgpu-device.js";

/** Content of a part of a call, and of a stream, whose memory is to stay small: as much as the module has in flight, and
 * one job of that. */
const PART_BYTES = { call: 128 * 2 ** 20, stream: 32 * 2 ** 20 };

/** The codec of a GPU. Pages are its own; headers, checksums and whatever is no page are the CPU's. */
export class GpuCodec extends Held<GpuModule> implements Codec {
  readonly #plain: Plain;
  readonly #cpu: CpuCodec;
  /** Frames whose blocks the GPU compresses, and how. */
  readonly #own = new WeakMap<Compression, { blockSize: number; level: string }>();

  constructor(module: GpuModule, at: number, plain: Plain) {
    super(module, at, module.exports.free_codec);
    this.#plain = plain;
    this.#cpu = new CpuCodec(plain);
  }

  backend(): BackendInfo | undefined {
    const open = this.#open();
    if (!open) return undefined;
    const { name, software } = open;
    const adapter = `${name || "unnamed adapter"} (webgpu, ${software ? "software" : "unknown kind"})`;
    return { engine: "webgpu", adapter, software, reason: REASON, rejected: [] };
  }

  device(): Device | null {
    return (this.#open()?.device as Device | undefined) ?? null;
  }

  /** The device, unless a call has the codec. */
  #open(): OpenDevice | undefined {
    const number = this.use((at) => this.module.exports.codec_device(at));
    return this.module.values.get(number);
  }

  close(): void {
    this.free();
  }

  beginCompression(
    blockSize: number,
    level: string,
    contentChecksum: boolean,
    blockChecksums: boolean,
    contentSize: number,
    index: boolean,
    isStream: boolean,
  ): Compression {
    const args = [blockSize, level, contentChecksum, blockChecksums, contentSize, index] as const;
    if (!PAGE_SIZES.includes(blockSize) || level === "sequential") return this.#cpu.beginCompression(...args, isStream);
    const frame = new FrameCompression(this.#plain, ...args);
    const session = this.#cpu.sessionOf(frame, isStream ? PART_BYTES.stream : PART_BYTES.call, isStream);
    this.#own.set(session, { blockSize, level });
    return session;
  }

  compressPart(session: Compression, isLast: boolean): Call<Bytes> {
    const own = this.#own.get(session);
    if (!own) return this.#cpu.compressPart(session, isLast);
    const { blockSize, level } = own;
    return new PromiseCall(async (control) => {
      const frame = session as CpuCompression;
      const content = frame.take();
      const { value, timing } = await driveWithin(control, this.compressPages(content, blockSize, level));
      const start = performance.now();
      const made = await putPages(frame, content, value, isLast, control);
      return { value: made, timing: { ...timing, totalNs: timing.totalNs + since(start) } };
    });
  }

  compressFrame(bytes: Uint8Array, options: Required<FrameOptions>): Call<Bytes> | undefined {
    const { blockSize, level, blockChecksums, index } = options;
    const isOwn = PAGE_SIZES.includes(blockSize) && level !== "sequential" && bytes.length > 0;
    // Checksums of blocks, and their index, are made where the frame is.
    if (!isOwn || blockChecksums || index) return undefined;
    return new PromiseCall(async (control) => {
      const start = performance.now();
      const { value, timing } = await compressFrame(this, this.#plain, bytes, options, PART_BYTES.call, control);
      return { value, timing: { ...timing, totalNs: since(start) } };
    });
  }

  /** Streams are decompressed by the CPU: their parts are not worth the way to a GPU and back. */
  beginDecompression(maxOutputSize: number): Decompression {
    return this.#cpu.beginDecompression(maxOutputSize);
  }

  decompressPart(session: Decompression): Call<Bytes | null> {
    return this.#cpu.decompressPart(session);
  }

  decompressFrames(bytes: Uint8Array, maxOutputSize: number): Call<Bytes> {
    return new PromiseCall(async (control) => {
      const start = performance.now();
      const { value, timing } = await decompressFrame(this, this.#plain, bytes, maxOutputSize, control);
      return { value, timing: { ...timing, totalNs: since(start) } };
    });
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string): Call<PackedPages> {
    const { exports, values } = this.module;
    const flags = levelFlag(level);
    const call = this.use((at) => exports.gpu_compress_pages(at, values.add(bytes), pageSize, flags));
    const byteLength = bytes.length;
    return new ModuleCall(this.module, call, (number, entries) => {
      const packed = values.take<Bytes>(number);
      const table = new Uint32Array(entries.slice().buffer);
      return { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength) };
    });
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
    const call = this.use((at) => {
      const entries = module.give(words);
      const strict = isStrict ? 1 : 0;
      return exports.gpu_decompress_pages(at, values.add(packed), entries, words.length, pageSize, byteLength, strict);
    });
    return new ModuleCall(module, call, (number, status) => take({ bytes: values.take(number), status: status.slice() }));
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
    const flags = levelFlag(level);
    const call = this.use((at) =>
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
    const call = this.use((at) => {
      const start = this.module.give(given);
      return exports.decompress_resident(at, start, given.length, pageSize, values.add(buffer));
    });
    return new ModuleCall(this.module, call, () => null);
  }
}

/** Nanoseconds since a moment. */
function since(start: number): number {
  return Math.round((performance.now() - start) * 1e6);
}
