import { checkOneOf, checkOptions, fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import { PagepressError } from "../base/errors.js";
import { SerialQueue } from "../base/serial-queue.js";
import type { Device as RawDevice, Layer, LayerConfig as RawConfig } from "../wasm/tensor.js";
import type { TensorModule } from "../modules/load.js";
import { checkWord, DTYPES, words } from "./arguments.js";
import { now, settled } from "./call.js";
import type { GpuDevice } from "./device.js";
import { Held } from "./dispose.js";
import type { LayerConfig, LayerWeights, LowRankQkv } from "./layer-types.js";
import { layerValues, lowRankValues, upload } from "./layer-weights.js";
import { rawOf, tensorOf, type GpuTensor } from "./tensor.js";

/** @internal The device of a layer: as the page has it, as the module has it, and the module. */
export interface LayerDevice {
  readonly device: GpuDevice;
  readonly raw: () => RawDevice;
  readonly module: TensorModule["glue"];
}

/** @internal Uploads the weights of a layer and creates it. */
export let layerOn: (on: LayerDevice, config: LayerConfig, weights: LayerWeights) => Promise<WgslForwardPass>;

/** A layer of a transformer whose weights, keys and values stay in GPU memory. Created by `GpuDevice.createLayer`. For input
 * rows x it computes
 *
 *     a = x + o(attention(rotary(q(n(x))), rotary(k(n(x))), v(n(x))))
 *     y = a + mlp(m(a))
 *
 * with norms n and m. Calls run in the order in which they were made. A causal layer continues where the last call ended:
 * rows one by one give the same result as all of them at once. */
export class WgslForwardPass {
  readonly #held: Held<Layer>;
  readonly #on: LayerDevice;
  readonly #queue = new SerialQueue();
  #isDisposed = false;
  #position = 0;
  /** Number of bytes of weights, rotary table and key-value cache in GPU memory. */
  readonly deviceBytes: number;

  static {
    layerOn = async (on, config, weights) => {
      const checked = checkedConfig(config);
      const values = layerValues(weights);
      const list = now(() => new on.module.LayerWeights());
      await upload(on.device, values, list);
      return new WgslForwardPass(on, await settled(() => on.raw().createLayer(checked, list)));
    };
  }

  private constructor(on: LayerDevice, raw: Layer) {
    this.#on = on;
    this.#held = new Held(raw, "layer");
    this.deviceBytes = raw.deviceBytes;
  }

  /** Number of rows of the sequence after the last call that has settled; always 0 for a layer that is not causal. */
  get position(): number { return this.#position; }
  get isDisposed(): boolean { return this.#isDisposed; }

  /** Runs the layer on `rows`, `[rows, hidden]`, which follow those of earlier calls if the layer is causal. The result has
   * their shape and type and stays in GPU memory; the promise resolves when the work is submitted. Rejects with
   * `SHAPE_MISMATCH` for rows of another length, and with `INVALID_ARGUMENT` if the sequence exceeds `maxPositions` or
   * `rows` are of another device; the layer is unchanged then. */
  async forward(rows: GpuTensor): Promise<GpuTensor> {
    // A view of its own: the page may dispose of the tensor while earlier calls run.
    const order = words("axes", rows?.shape?.map((_, axis) => axis) ?? fail("rows", typeof rows, "give a GpuTensor"));
    const view = now(() => rawOf("rows", rows).permute(order));
    try {
      return tensorOf(await this.#call((raw) => settled(() => raw.forward(view))));
    } finally {
      new Held(view, "view").dispose();
    }
  }

  /** Starts a new sequence: discards the cached keys and values. Like all calls it takes effect after earlier ones. */
  reset(): Promise<void> { return this.#call((raw) => now(() => raw.reset())); }

  /** Sets low-rank updates of queries, keys and values for later calls; null removes them. Arrays must not change until this
   * has settled. Rejects with `LENGTH_MISMATCH` for matrices whose sizes do not match the layer, which is unchanged then. */
  async setLora(lora: LowRankQkv | null): Promise<void> {
    if (lora === null) return this.#call((raw) => now(() => raw.setLora(0, 0)));
    const values = lowRankValues(lora);
    const { rank, scale } = lora;
    checkWord("rank", rank);
    checkNumber("scale", scale);
    return this.#call(async (raw) => {
      const list = now(() => new this.#on.module.LayerWeights());
      await upload(this.#on.device, values, list);
      now(() => raw.setLora(rank, scale, list));
    });
  }

  /** Frees weights and cache after all earlier calls have settled. Later calls reject with `DISPOSED`. */
  dispose(): void {
    this.#isDisposed = true;
    void this.#queue.run(() => this.#held.dispose());
  }

  [disposal](): void { this.dispose(); }

  #call<T>(work: (raw: Layer) => T | Promise<T>): Promise<T> {
    if (this.#isDisposed) return Promise.reject(new PagepressError("DISPOSED", "this layer was disposed of"));
    return this.#queue.run(async () => {
      const raw = this.#held.get();
      try {
        return await work(raw);
      } finally {
        this.#position = now(() => raw.position);
      }
    });
  }
}

const CONFIG: Readonly<Record<keyof LayerConfig, true>> = {
  hidden: true, nHeads: true, nKvHeads: true, headDim: true, mlpWidth: true, norm: true, epsilon: true, mlp: true,
  causal: true, window: true, rotaryBase: true, maxPositions: true, kvType: true,
};

function checkNumber(name: string, value: unknown): void {
  if (typeof value !== "number" || !Number.isFinite(value)) fail(name, String(value), "give a finite number");
}

/** Returns a configuration in the form that the module accepts; throws `INVALID_ARGUMENT` for values of a wrong type. */
function checkedConfig(config: LayerConfig): RawConfig {
  checkOptions(config, CONFIG);
  const { hidden, mlpWidth, nHeads, nKvHeads, headDim, maxPositions, window } = config;
  const sizes = Object.entries({ hidden, mlpWidth, nHeads, nKvHeads, headDim, maxPositions, window }).map(([name, size]) => {
    if (size === undefined && !["hidden", "mlpWidth", "nHeads"].includes(name)) return 0;
    checkWord(name, size as number);
    return size || fail(name, String(size), "give a whole number from 1 to 2^20");
  });
  const { norm = "rms", epsilon = 1e-5, mlp = "swiGlu", causal = true, rotaryBase = 10_000, kvType = "float32" } = config;
  checkOneOf("norm", norm, ["rms", "layer"]);
  checkNumber("epsilon", epsilon);
  checkOneOf("mlp", mlp, ["swiGlu", "gelu", "geluTanh"]);
  if (typeof causal !== "boolean") fail("causal", String(causal), "give true or false");
  if (rotaryBase !== null) checkNumber("rotaryBase", rotaryBase);
  checkOneOf("kvType", kvType, DTYPES);
  return [Uint32Array.from(sizes), norm, epsilon, mlp, causal, rotaryBase, kvType];
}
