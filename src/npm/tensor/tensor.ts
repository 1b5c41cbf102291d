import { fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import type { DeviceBuffer } from "../base/types.js";
import type { Op, Tensor } from "../wasm/tensor.js";
import { checkWord, words } from "./arguments.js";
import { now, settled } from "./call.js";
import { Held } from "./dispose.js";
import type { Inputs } from "./operations.js";
import type { QuantizedWeights } from "./quantized.js";
import type { AttentionOptions, Floats, NormOptions, Reduction, Shape, Step } from "./types.js";

/** @internal The module's tensor under one of the package; throws `DISPOSED` or `INVALID_ARGUMENT`. */
export let rawOf: (name: string, tensor: GpuTensor) => Tensor;

/** @internal A tensor of the package over one of the module. */
export let tensorOf: (raw: Tensor) => GpuTensor;

/** A tensor of 32-bit floats in GPU memory. Operations make new tensors there; `slice`, `reshape` and the like make views
 * of the same memory, which is freed once the last of them is disposed of. Operations resolve when they are submitted:
 * only `read` waits for the GPU. Shapes that do not fit are `SHAPE_MISMATCH`, with both shapes in the message. */
export class GpuTensor {
  readonly #held: Held<Tensor>;
  /** Lengths of the axes, outermost first. */
  readonly shape: readonly number[];

  static {
    tensorOf = (raw) => new GpuTensor(raw);
    rawOf = (name, tensor) => {
      if (typeof tensor === "object" && tensor !== null && #held in tensor) return tensor.#held.get();
      return fail(name, typeof tensor, "give a GpuTensor");
    };
  }

  private constructor(raw: Tensor) {
    this.#held = new Held(raw, "tensor");
    this.shape = Object.freeze(Array.from(raw.shape));
  }

  /** Number of elements. */
  get length(): number { return this.shape.reduce((n, dim) => n * dim, 1); }
  /** Distance of neighbours along each axis in `buffer`, in elements. */
  get strides(): readonly number[] { return Array.from(this.#held.get().strides); }
  /** Place of the first element in `buffer`, in elements. */
  get offset(): number { return this.#held.get().offset; }

  /** The `GPUBuffer` with the elements, for work of your own on `device.raw`. It may be longer; it is used for other tensors
   * once this one and its views are disposed of. */
  get buffer(): DeviceBuffer { return this.#held.get().buffer as DeviceBuffer; }
  get isDisposed(): boolean { return this.#held.isDisposed; }
  /** Copies the elements to the page, the last axis innermost. */
  read(): Promise<Floats> { return settled(() => this.#held.get().read()); }
  /** The elements by all steps in turn, in one launch for each four of them. */
  apply(steps: readonly Step[]): Promise<GpuTensor> { return this.#run(["elementwise", steps]); }

  /** The same; steps that take two take the element of `other`. Shapes extend to each other: axes of 1 are repeated. */
  combine(steps: readonly Step[], other: GpuTensor): Promise<GpuTensor> {
    return this.#run(["elementwise", steps], { other });
  }

  relu(): Promise<GpuTensor> { return this.apply(["relu"]); }
  leakyRelu(alpha: number): Promise<GpuTensor> { return this.apply([["leakyRelu", alpha]]); }
  elu(alpha: number): Promise<GpuTensor> { return this.apply([["elu", alpha]]); }
  sigmoid(): Promise<GpuTensor> { return this.apply(["sigmoid"]); }
  tanh(): Promise<GpuTensor> { return this.apply(["tanh"]); }
  swish(): Promise<GpuTensor> { return this.apply(["swish"]); }
  gelu(): Promise<GpuTensor> { return this.apply(["gelu"]); }
  clip(min: number, max: number): Promise<GpuTensor> { return this.apply([["clip", min, max]]); }
  scale(factor: number): Promise<GpuTensor> { return this.apply([["scale", factor]]); }
  add(other: GpuTensor): Promise<GpuTensor> { return this.combine(["add"], other); }
  sub(other: GpuTensor): Promise<GpuTensor> { return this.combine(["sub"], other); }
  mul(other: GpuTensor): Promise<GpuTensor> { return this.combine(["mul"], other); }
  div(other: GpuTensor): Promise<GpuTensor> { return this.combine(["div"], other); }

  /** Reduces some axes, which become ones; without axes all elements, to a tensor without axes. */
  async reduce(reduction: Reduction, axes?: Shape): Promise<GpuTensor> {
    return this.#run(axes ? ["reduce", reduction, words("axes", axes)] : ["reduce", reduction]);
  }

  sum(axes?: Shape): Promise<GpuTensor> { return this.reduce("sum", axes); }
  /** The largest elements; NaN where one is. */
  max(axes?: Shape): Promise<GpuTensor> { return this.reduce("max", axes); }
  /** The smallest elements; NaN where one is. */
  min(axes?: Shape): Promise<GpuTensor> { return this.reduce("min", axes); }
  /** The sum of products with a tensor of the same shape: a tensor without axes. */
  dot(other: GpuTensor): Promise<GpuTensor> { return this.#run(["dot"], { other }); }
  /** The softmax over the last axis. */
  softmax(): Promise<GpuTensor> { return this.#run(["softmax", false]); }
  /** The logarithm of the softmax over the last axis. */
  logSoftmax(): Promise<GpuTensor> { return this.#run(["softmax", true]); }

  /** The matrix product. Axes before the last two are batches and extend to each other; one axis alone is a row in front,
   * a column behind. Transposed tensors are taken as they are. */
  matmul(other: GpuTensor): Promise<GpuTensor> { return this.#run(["matmul"], { other }); }
  /** The convolution of `[rows, cols]` with a kernel where it fits: no padding, and the kernel is not flipped. */
  convolve2d(kernel: GpuTensor): Promise<GpuTensor> { return this.#run(["convolve2d"], { kernel }); }
  /** (x - mean) / √(variance + epsilon) over the last axis, times `weight` and plus `bias`, which have an element a column. */
  layerNorm(options: NormOptions<GpuTensor> = {}): Promise<GpuTensor> { return this.#norm("layer", options); }
  /** x / √(mean of squares + epsilon) over the last axis, times `weight` and plus `bias`, which have an element a column. */
  rmsNorm(options: NormOptions<GpuTensor> = {}): Promise<GpuTensor> { return this.#norm("rms", options); }

  /** The attention of these queries, `[heads, queries, elements]` or with batches in front: for each query the mean of the
   * values, weighted by the softmax of its products with the keys, which are never stored. `keys` and `values` may have
   * fewer heads, each for as many heads of queries. */
  attention(keys: GpuTensor, values: GpuTensor, { causal = false, scale }: AttentionOptions = {}): Promise<GpuTensor> {
    return this.#run(["attention", causal, scale], { keys, values });
  }

  /** The product of these rows, `[m, k]`, and the transpose of packed weights, `[n, k]`: `[m, n]`. */
  matmulQuantized(weights: QuantizedWeights): Promise<GpuTensor> {
    return this.#run(weights.op, { weights: weights.words });
  }

  /** The same elements without gaps, the last axis innermost: a copy, unless they are so already. */
  async contiguous(): Promise<GpuTensor> {
    return new GpuTensor(await settled(() => this.#held.get().contiguous()));
  }

  /** A view of the elements from `start` to before `end` of an axis. */
  slice(axis: number, start: number, end: number = this.shape[axis] ?? 0): GpuTensor {
    words("range", [axis, start, end]);
    return this.#view((raw) => raw.slice(axis, start, end));
  }

  /** A view with two axes exchanged; by default the last two. */
  transpose(first: number = this.shape.length - 2, second: number = this.shape.length - 1): GpuTensor {
    checkWord("first", first);
    checkWord("second", second);
    return this.#view((raw) => raw.transpose(first, second));
  }

  /** A view with the axes in another order: axis i of it is axis `axes[i]`. */
  permute(axes: Shape): GpuTensor { return this.#view((raw) => raw.permute(words("axes", axes))); }
  /** A view in another shape. Throws `SHAPE_MISMATCH` for a strided tensor, of which `contiguous` makes a copy. */
  reshape(shape: Shape): GpuTensor { return this.#view((raw) => raw.reshape(words("shape", shape))); }
  /** A view in a larger shape: axes of 1, and those that are missing in front, are repeated. */
  broadcastTo(shape: Shape): GpuTensor { return this.#view((raw) => raw.broadcastTo(words("shape", shape))); }
  /** Gives the tensor up. What was submitted before still runs; later calls fail with `DISPOSED`. */
  dispose(): void { this.#held.dispose(); }
  [disposal](): void { this.dispose(); }

  #norm(kind: string, { weight, bias, epsilon = 1e-5 }: NormOptions<GpuTensor>): Promise<GpuTensor> {
    return this.#run(["norm", kind, epsilon, weight !== undefined, bias !== undefined], { weight, bias });
  }

  async #run(op: Op, others: Inputs<GpuTensor> = {}): Promise<GpuTensor> {
    const begin = () => {
      const raw = this.#held.get();
      const given = Object.entries(others).filter(([, tensor]) => tensor !== undefined);
      const [second = raw, third = raw] = given.map(([name, tensor]) => rawOf(name, tensor as GpuTensor));
      return raw.run(op, 1 + given.length, second, third);
    };
    return new GpuTensor(await settled(begin));
  }

  #view(look: (raw: Tensor) => Tensor): GpuTensor { return new GpuTensor(now(() => look(this.#held.get()))); }
}
