import { CpuCodec } from "./cpu-codec.js";
import { compressFrame, decompressFrame, GpuCompression } from "./gpu-frames.js";
import type { Codec, Compression, Outcome, ResidentCodec } from "./codec.js";
import { type CpuModule, levelNumber } from "./cpu-module.js";
import type { GpuModule } from "./gpu-module.js";
import type { Job } from "./job.js";
import { drive, ModuleCall, REASON, type Told } from "./module-call.js";
import { type Bytes, Held } from "./module-memory.js";
import type { BackendInfo, CheckedPages, Device, DeviceBuffer, FrameOptions, PackedPages, PackedPagesInput, ResidentPart } from "./types.js";
import { PAGE_SIZES, ratioOf } from "./packed-pages.js";
import type { OpenDevice } from "./webgpu-device.js";

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
export class GpuCodec implements Codec, ResidentCodec {
  readonly module: GpuModule;
  readonly #open: () => Promise<HeldCodec>;
  readonly #cpu: CpuModule;
  readonly #alone: CpuCodec;
  #held: HeldCodec;

  /** `open` opens another codec of the module, on a new device. */
  constructor(module: GpuModule, held: HeldCodec, open: () => Promise<HeldCodec>, cpu: CpuModule) {
    this.module = module;
    this.#held = held;
    this.#open = open;
    this.#cpu = cpu;
    this.#alone = new CpuCodec(cpu);
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

  resident(): ResidentCodec {
    return this;
  }

  close(): void {
    this.#held.free();
  }

  async beginCompression(options: Required<FrameOptions>, contentSize: number): Promise<Compression> {
    if (!isForPages(options)) return this.#alone.beginCompression(options, contentSize);
    return new GpuCompression(this, this.#cpu, gpuOptions(options), contentSize);
  }

  async compress(bytes: Uint8Array, options: Required<FrameOptions>, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
    if (!isForPages(options) || bytes.length === 0) return this.#alone.compress(bytes, options, maxOutputSize, job);
    const start = performance.now();
    const frame = new GpuCompression(this, this.#cpu, gpuOptions(options), bytes.length);
    return since(start, await compressFrame(frame, bytes, job));
  }

  async decompress(bytes: Uint8Array, maxOutputSize: number, job: Job): Promise<Outcome<Bytes>> {
    const start = performance.now();
    const outcome = await decompressFrame(this, this.#cpu, bytes, maxOutputSize, job);
    return outcome ? since(start, outcome) : this.#alone.decompress(bytes, maxOutputSize, job);
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: string, job: Job): Promise<Outcome<PackedPages>> {
    const { exports, values } = this.module;
    const flags = levelNumber(gpuLevel(level));
    const call = this.#held.use((at) => exports.gpu_compress_pages(at, values.add(bytes), pageSize, flags));
    const byteLength = bytes.length;
    const read = (number: number, entries: Bytes): PackedPages => {
      const packed = values.take<Bytes>(number);
      const table = new Uint32Array(entries.slice().buffer);
      return { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength) };
    };
    // The last byte is done when the call is.
    const told: Told = (nPages, nBytes) => [Math.min(nPages * pageSize, byteLength - 1), nBytes];
    return drive(new ModuleCall(this.module, call, read, told), job);
  }

  decompressPages(
    { packed, table, pageSize, byteLength }: PackedPagesInput,
    isStrict: boolean,
    job: Job,
  ): Promise<Outcome<CheckedPages>> {
    const { module } = this;
    const { exports, values } = module;
    const words = new Uint8Array(table.buffer, table.byteOffset, table.byteLength);
    const call = this.#held.use((at) => {
      const entries = module.give(words);
      return exports.gpu_decompress_pages(at, values.add(packed), ...entries, pageSize, byteLength, isStrict ? 1 : 0);
    });
    const read = (number: number, status: Bytes): CheckedPages => ({ bytes: values.take(number), status: status.slice() });
    const told: Told = (nPages) => {
      const done = Math.min(nPages * pageSize, byteLength - 1);
      return [done, done];
    };
    return drive(new ModuleCall(module, call, read, told), job);
  }

  compressResident(
    buffer: DeviceBuffer,
    byteLength: number,
    pageSize: number,
    level: string,
    make: (bytes: number) => DeviceBuffer,
    job: Job,
  ): Promise<Outcome<ResidentPart[]>> {
    const { exports, values } = this.module;
    const made: DeviceBuffer[] = [];
    const maker = values.add((bytes: number) => {
      made.push(make(bytes));
      return made[made.length - 1];
    });
    const flags = levelNumber(gpuLevel(level));
    const call = this.#held.use((at) =>
      exports.compress_resident(at, values.add(buffer), byteLength, pageSize, flags, maker),
    );
    const read = (_: number, bytes: Bytes): ResidentPart[] => {
      const numbers = new Float64Array(bytes.slice().buffer);
      return Array.from({ length: numbers.length / 2 }, (_, i) => ({
        packed: made[2 * i] as DeviceBuffer,
        packedBytes: numbers[2 * i] as number,
        table: made[2 * i + 1] as DeviceBuffer,
        byteLength: numbers[2 * i + 1] as number,
      }));
    };
    return drive(new ModuleCall(this.module, call, read), job);
  }

  decompressResident(parts: ResidentPart[], pageSize: number, buffer: DeviceBuffer, job: Job): Promise<Outcome<null>> {
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
    return drive(new ModuleCall(this.module, call, () => null), job);
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

/** The outcome, whose time in all is that since `start`, not the GPU's part alone. */
function since<T>(start: number, { value, timing }: Outcome<T>): Outcome<T> {
  return { value, timing: { ...timing, totalNs: Math.round((performance.now() - start) * 1e6) } };
}
