import { checkUnchanged } from "../arguments.js";
import { PagepressError } from "../errors.js";
import type { Call } from "../module-call.js";
import { ArrayOperations } from "./arrays.js";
import { valueOf } from "./call.js";
import { rawDevice } from "./device.js";
import { disposal } from "./dispose.js";
import type { Floats, RawArrays } from "./raw.js";
import type { RawBackend } from "./raw-device.js";
import { loadTensors } from "../tensor-module.js";
import type { BackendUsed, GpuBackendOptions } from "./types.js";

/** Operations on arrays wherever they are faster: on a hardware GPU, which is opened when it first pays, or on the CPU;
 * always there where none is. `lastBackend` says what happened. Arrays must stay as they are until their call is done. */
export class GpuBackend extends ArrayOperations {
  readonly #open: () => Promise<RawBackend>;
  #raw: RawBackend | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #lastBackend: BackendUsed | null = null;
  #isDisposed = false;

  constructor(options: GpuBackendOptions = {}) {
    super();
    const { device, modules } = options;
    // An argument that is no device throws here.
    if (device) rawDevice(device);
    this.#open = async () => {
      const engine = await loadTensors(modules?.tensor);
      return engine.backend(device && rawDevice(device));
    };
  }

  /** Where the last operation ran, and why; null before the first. */
  get lastBackend(): BackendUsed | null {
    return this.#lastBackend;
  }

  get isDisposed(): boolean {
    return this.#isDisposed;
  }

  /** Gives memory and device up once the calls made before are done. Later calls reject with `DISPOSED`. */
  dispose(): void {
    this.#isDisposed = true;
    void this.#last.then(() => {
      this.#raw?.free();
      this.#raw = undefined;
    });
  }

  [disposal](): void {
    this.dispose();
  }

  /** @internal */
  override run(arrays: readonly Float32Array[], begin: (raw: RawArrays) => Call<Floats>): Promise<Floats> {
    if (this.#isDisposed) return Promise.reject(new PagepressError("DISPOSED", "this backend was disposed of"));
    const lengths = arrays.map(({ length }) => length);
    const made = this.#last.then(async () => {
      if (this.#raw?.isLost) this.#raw = undefined;
      const raw = (this.#raw ??= await this.#open());
      arrays.forEach((array, i) => checkUnchanged(array, lengths[i] as number));
      const values = await valueOf(() => begin(raw));
      this.#lastBackend = raw.lastBackend();
      return values;
    });
    this.#last = made.catch(() => undefined);
    return made;
  }
}
