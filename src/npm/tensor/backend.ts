import { checkUnchanged } from "../base/arguments.js";
import { asyncDisposal, disposal } from "../base/disposal.js";
import { PagepressError } from "../base/errors.js";
import { SerialQueue } from "../base/serial-queue.js";
import type { Backend, Op } from "../wasm/tensor.js";
import { ArrayOperations } from "./arrays.js";
import { generation, loadTensors, settled } from "./call.js";
import { type GpuDevice, rawDevice } from "./device.js";
import { Held } from "./dispose.js";
import type { BackendUsed, Floats, TensorModules } from "./types.js";

export interface GpuBackendOptions {
  /** Runs all operations on this device, and fails if it fails. Default: a hardware GPU, opened when it first pays off. */
  device?: GpuDevice;
  modules?: TensorModules;
}

/** A backend of the module, and the number of the module instance that created it. */
interface Opened {
  readonly generation: number;
  readonly held: Held<Backend>;
}

/** Runs operations on arrays where they are faster: on a hardware GPU, which is opened when it first pays off, or on the
 * CPU. Without a GPU all run on the CPU. `lastBackend` reports the engine of the last operation. Arrays must not change
 * until their call has settled. */
export class GpuBackend extends ArrayOperations {
  readonly #open: () => Promise<Opened>;
  #opened: Opened | undefined;
  readonly #queue = new SerialQueue();
  #lastBackend: BackendUsed | null = null;
  #isDisposed = false;

  constructor(options: GpuBackendOptions = {}) {
    super();
    const { device, modules } = options;
    // Throws for an argument that is not a device.
    if (device) rawDevice(device);
    this.#open = async () => {
      const module = await loadTensors(modules?.tensor);
      const raw = device ? module.Backend.withDevice(rawDevice(device)) : module.Backend.lazy();
      return { generation: generation(), held: new Held(raw, "backend") };
    };
  }

  /** The engine of the last operation, and the reason for it; null before the first. */
  get lastBackend(): BackendUsed | null { return this.#lastBackend; }

  get isDisposed(): boolean { return this.#isDisposed; }

  /** Releases memory and device after all earlier calls have settled. Later calls reject with `DISPOSED`. */
  dispose(): void {
    void this.#close();
  }

  [disposal](): void { this.dispose(); }

  /** Disposes of the backend, and waits until that is done. */
  async [asyncDisposal](): Promise<void> {
    await this.#close();
  }

  #close(): Promise<void> {
    this.#isDisposed = true;
    return this.#queue.run(() => {
      this.#opened?.held.dispose();
      this.#opened = undefined;
    });
  }

  /** @internal */
  override compute(op: Op, arrays: readonly Float32Array[], shapes: readonly Uint32Array[]): Promise<Floats> {
    if (this.#isDisposed) return Promise.reject(new PagepressError("DISPOSED", "this backend was disposed of"));
    const lengths = arrays.map(({ length }) => length);
    return this.#queue.run(async () => {
      if (this.#opened && this.#opened.generation !== generation()) this.#opened = undefined;
      const raw = (this.#opened ??= await this.#open()).held.get();
      arrays.forEach((array, i) => checkUnchanged(array, lengths[i] as number));
      const values = await settled(() => raw.run(op, arrays, shapes));
      this.#lastBackend = raw.lastBackend;
      return values;
    });
  }
}
