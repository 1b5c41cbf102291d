import type { Room } from "../base/arguments.js";
import type { Bytes } from "../base/bytes.js";
import { cancelled, type Job } from "../base/job.js";
import type {
  BackendInfo,
  CheckedPages,
  Device,
  DeviceBuffer,
  FrameOptions,
  GpuMemory,
  PackedPages,
  PackedPagesInput,
  ResidentPart,
  Level,
} from "../base/types.js";
import { PAGE_SIZES, ratioOf } from "../format/packed-pages.js";
import type { CpuModule } from "../modules/cpu-module.js";
import { levelNumber } from "../modules/enums.js";
import { type Glue, Held, lost } from "../modules/instance.js";
import type { GpuModule } from "../modules/load.js";
import type * as Gpu from "../wasm/gpu.js";
import type { Codec, Compression, Outcome, ResidentCodec } from "./codec.js";
import { CpuCodec } from "./cpu.js";
import { compressFrame, decompressFrame, GpuCompression } from "./gpu-frames.js";

/** Why the engine is the GPU, where nobody measured. */
const REASON = "asked for; the adapter that the browser gives";

/** Bytes of input done and of output made of a call, of its pages whose results are there and the bytes of their blocks. */
type Told = (nPages: number, nBytes: number) => [bytesIn: number, bytesOut: number];

/** How to open a GPU. */
type OpenGpu = (module: GpuModule) => Promise<Gpu.GpuCodec>;

/** The codec of a GPU. Pages are its own; headers, checksums and whatever is no page are the CPU's. */
export class GpuCodec implements Codec, ResidentCodec {
  readonly #module: GpuModule;
  readonly #open: OpenGpu;
  readonly #cpu: CpuModule;
  readonly #alone: CpuCodec;
  /** The codec of the module, until it is closed. */
  #held: Held<typeof Gpu & Glue, Gpu.GpuCodec> | undefined;

  /** @internal */
  constructor(module: GpuModule, open: OpenGpu, wasm: Gpu.GpuCodec, cpu: CpuModule) {
    this.#module = module;
    this.#open = open;
    this.#held = new Held(module, () => wasm);
    this.#cpu = cpu;
    this.#alone = new CpuCodec(cpu);
  }

  /** Opens a GPU. `cpu` puts its pages together to files. */
  static async open(module: GpuModule, cpu: CpuModule, open: OpenGpu): Promise<GpuCodec> {
    return new GpuCodec(module, open, await module.call(() => open(module)), cpu);
  }

  async revive(): Promise<void> {
    if (!this.#held || this.#held.object) return;
    const wasm = await this.#module.call(() => this.#open(this.#module));
    this.#held = new Held(this.#module, () => wasm);
  }

  backend(): BackendInfo | undefined {
    const wasm = this.#held?.object;
    if (!wasm) return undefined;
    const { name, software } = wasm;
    const adapter = `${name || "unnamed adapter"} (webgpu, ${software ? "software" : "unknown kind"})`;
    return { engine: "webgpu", adapter, software, reason: REASON, rejected: [] };
  }

  device(): Device | null {
    return (this.#held?.object?.device() as Device | undefined) ?? null;
  }

  memory(): GpuMemory | null {
    return this.#held?.object?.memory ?? null;
  }

  resident(): ResidentCodec {
    return this;
  }

  close(): void {
    this.#held?.free();
    this.#held = undefined;
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

  async decompress(bytes: Uint8Array, room: Room, job: Job): Promise<Outcome<Bytes>> {
    const start = performance.now();
    const { limit, into } = room;
    const most = Math.min(limit, into?.length ?? limit);
    const outcome = await decompressFrame(this, this.#cpu, bytes, most, job);
    if (!outcome) return this.#alone.decompress(bytes, room, job);
    if (!into) return since(start, outcome);
    const value = into.subarray(0, outcome.value.length);
    value.set(outcome.value);
    return since(start, { ...outcome, value });
  }

  compressPages(bytes: Uint8Array, pageSize: number, level: Level, job: Job): Promise<Outcome<PackedPages>> {
    const byteLength = bytes.length;
    // The last byte is done when the call is.
    const told: Told = (nPages, nBytes) => [Math.min(nPages * pageSize, byteLength - 1), nBytes];
    return this.#call(job, told, async (wasm, tell) => {
      const { packed, table, timing } = await wasm.compressPages(bytes, pageSize, levelNumber(level, "fast"), tell);
      return { value: { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength) }, timing };
    });
  }

  decompressPages(pages: PackedPagesInput, isStrict: boolean, job: Job): Promise<Outcome<CheckedPages>> {
    const { packed, table, pageSize, byteLength } = pages;
    const told: Told = (nPages) => {
      const done = Math.min(nPages * pageSize, byteLength - 1);
      return [done, done];
    };
    return this.#call(job, told, async (wasm, tell) => {
      const { timing, ...value } = await wasm.decompressPages(packed, table, pageSize, byteLength, isStrict, tell);
      return { value, timing };
    });
  }

  compressResident(
    buffer: DeviceBuffer,
    byteLength: number,
    pageSize: number,
    level: Level,
    make: (bytes: number) => DeviceBuffer,
    job: Job,
  ): Promise<Outcome<ResidentPart[]>> {
    return this.#call(job, untold, async (wasm) => {
      const { parts, timing } = await wasm.compressResident(buffer, byteLength, pageSize, levelNumber(level, "fast"), make);
      return { value: parts, timing };
    });
  }

  decompressResident(parts: ResidentPart[], pageSize: number, buffer: DeviceBuffer, job: Job): Promise<Outcome<null>> {
    return this.#call(job, untold, async (wasm) => {
      return { value: null, timing: await wasm.decompressResident(parts, pageSize, buffer) };
    });
  }

  /** A call of the module, which tells how far it is and can be stopped whenever it does. */
  async #call<T>(
    job: Job,
    told: Told,
    work: (wasm: Gpu.GpuCodec, tell: Gpu.GpuTell) => Promise<{ value: T; timing: Gpu.GpuTiming }>,
  ): Promise<Outcome<T>> {
    const wasm = this.#held?.object;
    if (!wasm) throw lost();
    let thrown: { error: unknown } | undefined;
    const tell: Gpu.GpuTell = (nPages, nBytes) => {
      try {
        job.report(...told(nPages, nBytes), "webgpu");
        return !job.isStopped;
      } catch (error) {
        thrown = { error };
        return false;
      }
    };
    const { value, timing } = await this.#module.call(() => work(wasm, tell)).catch((error: unknown) => {
      throw thrown ? thrown.error : error;
    });
    if (job.isStopped) throw cancelled();
    return { value, timing: { engine: "webgpu", reason: REASON, ...timing } };
  }
}

const untold: Told = () => [0, 0];

function gpuOptions(options: Required<FrameOptions>): Required<FrameOptions> {
  return options.level === "auto" ? { ...options, level: "fast" } : options;
}

/** Whether kernels compress the blocks of such frames. */
function isForPages({ blockSize, level }: Required<FrameOptions>): boolean {
  return PAGE_SIZES.includes(blockSize) && level !== "sequential";
}

/** The outcome, whose time in all is that since `start`, not the GPU's part alone. */
function since<T>(start: number, { value, timing }: Outcome<T>): Outcome<T> {
  return { value, timing: { ...timing, totalNs: Math.round((performance.now() - start) * 1e6) } };
}
