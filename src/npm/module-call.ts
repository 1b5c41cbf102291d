import type { Call, Outcome } from "./codec.js";
import { type Host, valueFunctions, Values } from "./js-values.js";
import { type Bytes, type MemoryExports, ModuleMemory, type Status } from "./module-memory.js";
import type { Engine } from "./types.js";
import { gpuFunctions } from "./webgpu.js";

/** What drives calls of a module, and answers what it asks: `src/web/call.rs` and `src/js.rs`. */
export interface CallExports extends MemoryExports {
  answer_later(token: number, number: number): void;
  fail_later(token: number, text: number): void;
  poll_call(call: number): Status;
  cancel_call(call: number): void;
  free_call(call: number): void;
}

/** A module that drives a GPU. */
export class CallModule<Exports extends CallExports> extends ModuleMemory<Exports> {
  readonly values: Values;
  /** What wakes each call. */
  readonly wakers: Map<number, () => void>;
  /** Told how far the call is that is being polled: pages whose results are there, and bytes of their blocks. */
  tell: (nPages: number, nBytes: number) => void = () => undefined;

  constructor(exports: Exports, values: Values, wakers: Map<number, () => void>) {
    super(exports);
    this.values = values;
    this.wakers = wakers;
  }

  /** The number of an array's bytes, for a function that takes it over. */
  bytesOf({ buffer, byteOffset, byteLength }: ArrayBufferView): number {
    return this.values.add(new Uint8Array(buffer, byteOffset, byteLength));
  }

  /** The number of a text's bytes, likewise. */
  textOf(text: string): number {
    return this.values.add(new TextEncoder().encode(text));
  }
}

/** An instance of such a module. */
export async function instantiate<Exports extends CallExports>(module: WebAssembly.Module): Promise<CallModule<Exports>> {
  const values = new Values();
  const wakers = new Map<number, () => void>();
  let exports: Exports;
  let made: CallModule<Exports>;
  const host: Host = {
    values,
    memory: () => exports.memory.buffer as ArrayBuffer,
    answer: (token, number) => exports.answer_later(token, number),
    fail: (token, error) => {
      const message = error instanceof Error ? error.message : String((error as { message?: unknown })?.message ?? error);
      exports.fail_later(token, values.add(new TextEncoder().encode(message)));
    },
    wake: (call) => wakers.get(call)?.(),
    tell: (nPages, nBytes) => made.tell(nPages, nBytes >>> 0),
  };
  const instance = await WebAssembly.instantiate(module, { js: valueFunctions(host), gpu: gpuFunctions(host) });
  exports = instance.exports as unknown as Exports;
  made = new CallModule(exports, values, wakers);
  return made;
}

/** Numbers before what else a call gives. */
const HEAD_BYTES = 40;

/** Why the engine is the GPU, where nobody measured. */
export const REASON = "asked for; the adapter that the browser gives";

/** Bytes of input done and of output made of a call, of its pages whose results are there and the bytes of their blocks. */
export type Told = (nPages: number, nBytes: number) => [bytesIn: number, bytesOut: number];

/** A call of a module under way. `read` makes its value of what it gives. */
export class ModuleCall<T> implements Call<T> {
  readonly #module: CallModule<CallExports>;
  readonly #at: number;
  readonly #read: (number: number, bytes: Bytes) => T;
  readonly #toldOf: Told;
  #told: [bytesIn: number, bytesOut: number] = [0, 0];

  constructor(
    module: CallModule<CallExports>,
    at: number,
    read: (number: number, bytes: Bytes) => T,
    toldOf: Told = () => [0, 0],
  ) {
    this.#module = module;
    this.#at = at;
    this.#read = read;
    this.#toldOf = toldOf;
  }

  poll(wake: () => void): Outcome<T> | undefined {
    const { exports, wakers } = this.#module;
    wakers.set(this.#at, wake);
    this.#module.tell = (...told) => (this.#told = this.#toldOf(...told));
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

  bytesIn(): number {
    return this.#told[0];
  }

  bytesOut(): number {
    return this.#told[1];
  }

  engine(): Engine {
    return "webgpu";
  }

  free(): void {
    this.#module.wakers.delete(this.#at);
    this.#module.exports.free_call(this.#at);
  }
}
