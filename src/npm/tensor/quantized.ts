import { disposal } from "../base/disposal.js";
import type { Op } from "../wasm/tensor.js";
import type { GpuTensor } from "./tensor.js";

/** Packed weights in GPU memory, for `GpuTensor.matmulQuantized`, which unpacks them on the way. `GpuDevice.quantizedWeights`
 * uploads them. */
export class QuantizedWeights {
  /** @internal Their bytes as words. */
  readonly words: GpuTensor;
  /** @internal The product with them. */
  readonly op: Op;

  /** @internal */
  constructor(words: GpuTensor, op: Op) {
    this.words = words;
    this.op = op;
  }

  /** Gives the weights up. */
  dispose(): void { this.words.dispose(); }
  [disposal](): void { this.dispose(); }
}
