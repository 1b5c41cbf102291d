import { ContentPart } from "./content-part.js";
import { CpuCodec } from "./cpu-codec.js";
import { compressFrame, decompressFrame, GpuCompression } from "./gpu-frames.js";
import type { Call, Codec, Compression, Decompression, Outcome } from "./codec.js";
import { PagepressError } from "./errors.js";
import { guarded, instance } from "./gpu-module.js";
import type { Bytes } from "./module-memory.js";
import type { Plain } from "./plain.js";
import { cancelled, type Control, PromiseCall } from "./promise-call.js";
import type { BackendInfo, CheckedPages, Device, DeviceBuffer, FrameOptions, PackedPages, ResidentPart } from "./types.js";
import { PAGE_SIZES, ratioOf } from "./packed-pages.js";
import type { GpuCodec as WasmCodec, GpuTell, GpuTiming } from "./wasm/gpu.js";

/** Content of a part of a call, and of a stream, whose memory is to stay small: as much as the module has in flight, and
 * one job of that. */
const PART_BYTES = { call: 128 * 2 ** 20, stream: 32 * 2 ** 20 };

/** Why the engine is the GPU, where nobody measured. */
const REASON = "asked for; the adapter that the browser gives";

/** Bytes of input done and of output made of a call, of its pages whose results are there and the bytes of their blocks. */
type Told = (nPages: number, nBytes: number) => [bytesIn: number, bytesOut: number];

/** The codec of a GPU. Pages are its own; headers, checksums and whatever is no page are the CPU's. */
export class GpuCodec implements Codec {
  readonly #open: () => Promise<WasmCodec>;
  readonly #plain: Plain;
  readonly #cpu: CpuCodec;
  #wasm: WasmCodec | undefined;
  #instance = instance();

  /** `open` opens another codec of the module, on a new device. */
  constructor(wasm: WasmCodec, open: () => Promise<WasmCodec>, plain: Plain) {
    this.#wasm = wasm;
    this.#open = open;
    this.#plain = plain;
    this.#cpu = new CpuCodec(plain);
  }

  async revive(): Promise<void> {
    if (!this.#wasm || this.#instance === instance()) return;
    const opened = await this.#open();
    [this.#wasm, this.#instance] = [opened, instance()];
  }

  backend(): BackendInfo | undefined {
    const wasm = this.#current();
    if (!wasm) return undefined;
    const { name, software } = wasm;
    const adapter = `${name || "unnamed adapter"} (webgpu, ${software ? "software" : "unknown kind"})`;
    return { engine: "webgpu", adapter, software, reason: REASON, rejected: [] };
  }

  device(): Device | null {
    return (this.#current()?.device() as Device | undefined) ?? null;
  }

  /** The codec of the module, unless it was lost with the instance that it was in. */
  #current(): WasmCodec | undefined {
    return this.#instance === instance() ? this.#wasm : undefined;
  }

  close(): void {
    this.free();
  }

  free(): void {
    this.#current()?.free();
    this.#wasm = undefined;
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
    const byteLength = bytes.length;
    // The last byte is done when the call is.
    const told: Told = (nPages, nBytes) => [Math.min(nPages * pageSize, byteLength - 1), nBytes];
    return this.#call(told, async (wasm, tell) => {
      const { packed, table, timing } = await wasm.compressPages(bytes, pageSize, gpuLevel(level), tell);
      return { value: { packed, table, pageSize, byteLength, ratio: ratioOf(byteLength, packed.length + table.byteLength) }, timing };
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
    return this.#decompress(packed, table, pageSize, byteLength, false, ({ bytes, status }) => ({ bytes, status }));
  }

  #decompress<T>(
    packed: Uint8Array,
    table: Uint32Array,
    pageSize: number,
    byteLength: number,
    isStrict: boolean,
    take: (checked: CheckedPages) => T,
  ): Call<T> {
    const told: Told = (nPages) => {
      const done = Math.min(nPages * pageSize, byteLength - 1);
      return [done, done];
    };
    return this.#call(told, async (wasm, tell) => {
      const { timing, ...checked } = await wasm.decompressPages(packed, table, pageSize, byteLength, isStrict, tell);
      return { value: take(checked), timing };
    });
  }

  compressResident(
    buffer: DeviceBuffer,
    byteLength: number,
    pageSize: number,
    level: string,
    make: (bytes: number) => DeviceBuffer,
  ): Call<ResidentPart[]> {
    return this.#call(untold, async (wasm) => {
      const { parts, timing } = await wasm.compressResident(buffer, byteLength, pageSize, gpuLevel(level), make);
      return { value: parts, timing };
    });
  }

  decompressResident(parts: ResidentPart[], pageSize: number, buffer: DeviceBuffer): Call<null> {
    return this.#call(untold, async (wasm) => {
      return { value: null, timing: await wasm.decompressResident(parts, pageSize, buffer) };
    });
  }

  /** A call of the module, which tells how far it is and can be stopped whenever it does. */
  #call<T>(told: Told, work: (wasm: WasmCodec, tell: GpuTell) => Promise<{ value: T; timing: GpuTiming }>): Call<T> {
    return new PromiseCall(async (control) => {
      const tell: GpuTell = (nPages, nBytes) => {
        control.tell(...told(nPages, nBytes), "webgpu");
        return !control.isCancelled;
      };
      const wasm = this.#current();
      if (!wasm) throw new PagepressError("INTERNAL", "the engine stopped in another call, and this was lost with it");
      const { value, timing } = await guarded(() => work(wasm, tell));
      if (control.isCancelled) throw cancelled();
      return { value, timing: { engine: "webgpu", reason: REASON, ...timing } };
    });
  }
}

const untold: Told = () => [0, 0];

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
