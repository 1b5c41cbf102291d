import type { Outcome } from "./codec.js";
import type { Job } from "./job.js";
import { type Host, valueFunctions, Values } from "./js-values.js";
import { type Bytes, type Instance, lost, type MemoryExports, ModuleMemory, type Status } from "./module-memory.js";
import type { Engine } from "./types.js";
import { gpuFunctions } from "./webgpu.js";
import { OpenDevice } from "./webgpu-device.js";

/** What drives calls of a module, and answers what it asks: `src/web/call.rs` and `src/js.rs`. */
export interface CallExports extends MemoryExports {
  answer_later(token: number, number: number): void;
  fail_later(token: number, text: number): void;
  poll_call(call: number): Status;
  cancel_call(call: number): void;
  free_call(call: number): void;
}

/** JavaScript's side of an instance: the values that it has, what wakes its calls, and what it calls. */
export class Side<Exports extends CallExports> implements Instance {
  readonly values = new Values();
  /** What wakes each call. */
  readonly wakers = new Map<number, () => void>();
  /** Told how far the call is that is being polled: pages whose results are there, and bytes of their blocks. */
  tell: (nPages: number, nBytes: number) => void = () => undefined;
  exports: object = {};
  /** What is to be called of the instance, until it stops. */
  live: Exports | undefined;

  /** What the instance imports. */
  imports(): WebAssembly.Imports {
    const host: Host = {
      values: this.values,
      memory: () => (this.exports as Exports).memory.buffer as ArrayBuffer,
      answer: (token, number) => this.#answer((exports) => exports.answer_later(token, number)),
      fail: (token, error) => {
        const message = error instanceof Error ? error.message : String((error as { message?: unknown })?.message ?? error);
        this.#answer((exports) => exports.fail_later(token, this.values.add(new TextEncoder().encode(message))));
      },
      wake: (call) => this.wakers.get(call)?.(),
      tell: (nPages, nBytes) => this.tell(nPages, nBytes >>> 0),
    };
    return { js: valueFunctions(host), gpu: gpuFunctions(host) };
  }

  begin(exports: object): void {
    this.live = exports as Exports;
  }

  /** Gives up the devices that the instance opened, and has its calls polled, which then fail. */
  stop(): void {
    this.live = undefined;
    for (const value of this.values.all()) if (value instanceof OpenDevice) value.giveUp();
    for (const wake of [...this.wakers.values()]) wake();
  }

  #answer(work: (exports: Exports) => void): void {
    try {
      if (this.live) work(this.live);
    } catch {
      // It stopped the instance, of which all of its calls learn.
    }
  }
}

/** A module that drives a GPU. */
export class CallModule<Exports extends CallExports> extends ModuleMemory<Exports, Side<Exports>> {
  /** JavaScript's side of the instance in use. */
  get side(): Side<Exports> {
    return this.instance;
  }

  get values(): Values {
    return this.instance.values;
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
  const first = new Side<Exports>();
  first.exports = (await WebAssembly.instantiate(module, first.imports())).exports;
  return new CallModule<Exports>(first, () => {
    const side = new Side<Exports>();
    side.exports = new WebAssembly.Instance(module, side.imports()).exports;
    return side;
  });
}

/** Numbers before what else a call gives. */
const HEAD_BYTES = 40;

/** Why the engine is the GPU, where nobody measured. */
export const REASON = "asked for; the adapter that the browser gives";

/** Bytes of input done and of output made of a call, of its pages whose results are there and the bytes of their blocks. */
export type Told = (nPages: number, nBytes: number) => [bytesIn: number, bytesOut: number];

/** A call under way in a module. */
export interface Call<T> {
  /** The outcome; or undefined if the call waits, and `wake` is called when it is time to poll again. */
  poll(wake: () => void): Outcome<T> | undefined;
  /** Has the next poll throw `CANCELLED`. */
  cancel(): void;
  /** Bytes of input done and of output made, where the call tells; else 0. */
  bytesIn(): number;
  bytesOut(): number;
  engine(): Engine;
  free(): void;
}

/** Drives a call to its end, or gives it up when the job is stopped. */
export async function drive<T>(call: Call<T>, job: Job): Promise<Outcome<T>> {
  let wake = (): void => undefined;
  const abort = (): void => {
    call.cancel();
    wake();
  };
  job.signal?.addEventListener("abort", abort);
  if (job.isStopped) abort();
  try {
    for (;;) {
      const woken = new Promise<void>((resolve) => (wake = resolve));
      const outcome = call.poll(wake);
      if (outcome) return outcome;
      if (call.bytesIn() > 0) job.report(call.bytesIn(), call.bytesOut(), call.engine());
      await woken;
    }
  } finally {
    call.free();
    job.signal?.removeEventListener("abort", abort);
  }
}

/** A call of a module under way. `read` makes its value of what it gives. */
export class ModuleCall<T> implements Call<T> {
  readonly #module: CallModule<CallExports>;
  readonly #side: Side<CallExports>;
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
    this.#side = module.side;
    this.#at = at;
    this.#read = read;
    this.#toldOf = toldOf;
  }

  poll(wake: () => void): Outcome<T> | undefined {
    const { live, wakers } = this.#side;
    if (!live) throw lost();
    wakers.set(this.#at, wake);
    this.#side.tell = (...told) => (this.#told = this.#toldOf(...told));
    const given = this.#module.taken(live.poll_call(this.#at));
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
    this.#side.live?.cancel_call(this.#at);
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
    this.#side.wakers.delete(this.#at);
    this.#side.live?.free_call(this.#at);
  }
}
