import type { Call, Outcome } from "./codec.js";
import type { Values } from "./js-values.js";
import { type Bytes, type MemoryExports, ModuleMemory, type Status } from "./module-memory.js";

/** What the module of the GPU exports; `src/web/gpu` says what each function takes and gives. */
export interface GpuExports extends MemoryExports {
  answer_later(token: number, number: number): void;
  fail_later(token: number, text: number): void;
  open_codec(isLowPower: number, allowSoftware: number): number;
  codec_device(codec: number): number;
  free_codec(codec: number): void;
  gpu_compress_pages(codec: number, bytes: number, pageSize: number, flags: number): number;
  gpu_decompress_pages(
    codec: number,
    packed: number,
    table: number,
    tableLength: number,
    pageSize: number,
    byteLength: number,
    isStrict: number,
  ): number;
  compress_resident(
    codec: number,
    buffer: number,
    byteLength: number,
    pageSize: number,
    flags: number,
    maker: number,
  ): number;
  decompress_resident(codec: number, parts: number, partsLength: number, pageSize: number, buffer: number): number;
  poll_call(call: number): Status;
  cancel_call(call: number): void;
  free_call(call: number): void;
}

/** The module of the GPU. It knows pages; files are the CPU's module's. */
export class GpuModule extends ModuleMemory<GpuExports> {
  readonly values: Values;
  /** What wakes each call. */
  readonly wakers: Map<number, () => void>;

  constructor(exports: GpuExports, values: Values, wakers: Map<number, () => void>) {
    super(exports);
    this.values = values;
    this.wakers = wakers;
  }
}

/** Numbers before what else a call gives. */
const HEAD_BYTES = 40;

/** A call of the module under way. `read` makes its value of what it gives. */
export class GpuCall<T> implements Call<T> {
  readonly #module: GpuModule;
  readonly #at: number;
  readonly #read: (number: number, bytes: Bytes) => T;

  constructor(module: GpuModule, at: number, read: (number: number, bytes: Bytes) => T) {
    this.#module = module;
    this.#at = at;
    this.#read = read;
  }

  poll(wake: () => void): Outcome<T> | undefined {
    const { exports, wakers } = this.#module;
    wakers.set(this.#at, wake);
    const given = this.#module.taken(exports.poll_call(this.#at));
    if (!given) return undefined;
    const [upload, kernel, readback, totalNs, number] = new Float64Array(given.buffer, 0, 5) as unknown as [
      number, number, number, number, number,
    ];
    const orNull = (ns: number): number | null => (ns < 0 ? null : ns);
    const value = this.#read(number, given.subarray(HEAD_BYTES));
    const times = { uploadNs: orNull(upload), kernelNs: orNull(kernel), readbackNs: orNull(readback), totalNs };
    return { value, timing: { engine: "webgpu", reason: REASON, ...times } };
  }

  cancel(): void {
    this.#module.exports.cancel_call(this.#at);
  }

  /** Calls of a GPU do not tell how far they are. */
  bytesIn(): number {
    return 0;
  }

  bytesOut(): number {
    return 0;
  }

  free(): void {
    this.#module.wakers.delete(this.#at);
    this.#module.exports.free_call(this.#at);
  }
}

/** Why the engine is the GPU, where nobody measured. */
export const REASON = "asked for; the adapter that the browser gives";
