import { disposal } from "../base/disposal.js";
import type { Op } from "../wasm/tensor.js";
import type { GpuTensor } from "./tensor.js";

/** Packed weights in GPU memory, for `GpuTensor.matmulQuantized`, which unpacks them on the fly. Created by
 * `GpuDevice.quantizedWeights`. */
export class QuantizedWeights {
  /** @internal The bytes of the weights, as words. */
  readonly words: GpuTensor;
  /** @internal The operation that multiplies by the weights. */
  readonly op: Op;

  /** @internal */
  constructor(words: GpuTensor, op: Op) {
    this.words = words;
    this.op = op;
  }

  /** Disposes of the weights. */
  dispose(): void { this.words.dispose(); }
  [disposal](): void { this.dispose(); }
}
