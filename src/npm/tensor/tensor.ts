import { checkOneOf, fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import type { DeviceBuffer } from "../base/types.js";
import type { Op, Tensor } from "../wasm/tensor.js";
import { attentionOp, checkWord, DTYPES, matmulOp, words } from "./arguments.js";
import { now, settled } from "./call.js";
import { Held } from "./dispose.js";
import type { Inputs } from "./operations.js";
import type { AttentionOptions, DType, Floats, MatmulOptions, NormOptions, Reduction, Shape, Step } from "./types.js";

/** @internal Returns the module's tensor in a `GpuTensor`; throws `DISPOSED` or `INVALID_ARGUMENT`. */
export let rawOf: (name: string, tensor: GpuTensor) => Tensor;

/** @internal Wraps a tensor of the module in a `GpuTensor`. */
export let tensorOf: (raw: Tensor) => GpuTensor;

/** A tensor in GPU memory, of 32-bit floats or of 16-bit ones. Operations compute in 32 bits; their result has the type of
 * the inputs, to which it is rounded once, and is `float32` for inputs of several types. Operations create new tensors there; `slice`, `reshape` and similar methods
 * create views of the same memory, which is freed when the last of them is disposed of. Operations resolve when they are
 * submitted: only `read` waits for the GPU. Shapes that do not match are `SHAPE_MISMATCH`, with both shapes in the
 * message. */
export class GpuTensor {
  readonly #held: Held<Tensor>;
  /** Lengths of the axes, outermost first. */
  readonly shape: readonly number[];
  /** Type of the elements. */
  readonly dtype: DType;

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
    this.dtype = raw.dtype;
  }

  /** Number of elements. */
  get length(): number { return this.shape.reduce((n, dim) => n * dim, 1); }
  /** Distance between neighbours along each axis in `buffer`, in elements. */
  get strides(): readonly number[] { return Array.from(this.#held.get().strides); }
  /** Position of the first element in `buffer`, in elements. */
  get offset(): number { return this.#held.get().offset; }

  /** The `GPUBuffer` that contains the elements, for your own commands on `device.raw`. It may be longer than the tensor. It
   * is reused for other tensors once this one and its views are disposed of. */
  get buffer(): DeviceBuffer { return this.#held.get().buffer as DeviceBuffer; }
  get isDisposed(): boolean { return this.#held.isDisposed; }
  /** Copies the elements to an array, the last axis innermost. Elements of 16 bits are converted. */
  read(): Promise<Floats> { return settled(() => this.#held.get().read()); }
  /** Copies the bits of elements of 16 bits to an array, the last axis innermost. For `float16`,
   * `new Float16Array(bits.buffer)` has the elements. Rejects with `INVALID_ARGUMENT` for `float32`. */
  readBits(): Promise<Uint16Array<ArrayBuffer>> { return settled(() => this.#held.get().readBits()); }

  /** Converts the elements to a type. Rounds to nearest, ties to even; numbers beyond the largest of the type become
   * infinite. */
  async cast(dtype: DType): Promise<GpuTensor> {
    checkOneOf("dtype", dtype, DTYPES);
    return new GpuTensor(await settled(() => this.#held.get().cast(dtype)));
  }

  /** Applies `steps` in order to each element, in one launch per four steps. */
  apply(steps: readonly Step[]): Promise<GpuTensor> { return this.#run(["elementwise", steps]); }

  /** Applies `steps` in order. Binary steps also use the element of `other`. The shapes are broadcast to each other: axes of
   * length 1 are repeated. */
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

  /** Reduces some axes, whose lengths become 1; without `axes` all elements, to a tensor without axes. */
  async reduce(reduction: Reduction, axes?: Shape): Promise<GpuTensor> {
    return this.#run(axes ? ["reduce", reduction, words("axes", axes)] : ["reduce", reduction]);
  }

  sum(axes?: Shape): Promise<GpuTensor> { return this.reduce("sum", axes); }
  /** Returns the largest elements; NaN where any element is NaN. */
  max(axes?: Shape): Promise<GpuTensor> { return this.reduce("max", axes); }
  /** Returns the smallest elements; NaN where any element is NaN. */
  min(axes?: Shape): Promise<GpuTensor> { return this.reduce("min", axes); }
  /** Returns the sum of products with a tensor of the same shape, as a tensor without axes. */
  dot(other: GpuTensor): Promise<GpuTensor> { return this.#run(["dot"], { other }); }
  /** Computes the softmax over the last axis. */
  softmax(): Promise<GpuTensor> { return this.#run(["softmax", false]); }
  /** Computes the logarithm of the softmax over the last axis. */
  logSoftmax(): Promise<GpuTensor> { return this.#run(["softmax", true]); }

  /** Computes the matrix product. Axes before the last two are batches and are broadcast to each other; a tensor of one axis
   * is a row on the left side, and a column on the right side. Transposed tensors are not copied. `options` add a bias to each
   * column, `[n]`, apply an activation, and add a residual of the product's shape, in the same launch. */
  async matmul(other: GpuTensor, options: MatmulOptions<GpuTensor> = {}): Promise<GpuTensor> {
    const { bias, residual } = options;
    return this.#run(matmulOp(options), { other, bias, residual });
  }


  /** Convolves an image, `[rows, cols]`, with a kernel, without padding, and without flipping the kernel. */
  convolve2d(kernel: GpuTensor): Promise<GpuTensor> { return this.#run(["convolve2d"], { kernel }); }
  /** Computes (x - mean) / √(variance + epsilon) over the last axis, times `weight` plus `bias`, which have one element per
   * column. */
  layerNorm(options: NormOptions<GpuTensor> = {}): Promise<GpuTensor> { return this.#norm("layer", options); }
  /** Computes x / √(mean of squares + epsilon) over the last axis, times `weight` plus `bias`, which have one element per
   * column. */
  rmsNorm(options: NormOptions<GpuTensor> = {}): Promise<GpuTensor> { return this.#norm("rms", options); }

  /** Rotates heads, `[rows, heads, elements]`, by the positions of their rows: pairs of elements i and i + elements / 2 by angle
   * i of the position, which is `first` for the first row. `turns`, `[positions, elements]`, has cosine and sine of each
   * angle. */
  async rotary(turns: GpuTensor, first = 0): Promise<GpuTensor> {
    checkWord("first", first);
    return this.#run(["rotary", first], { turns });
  }

  /** Computes the attention of these queries, `[heads, queries, elements]` or `[batch, heads, queries, elements]`: for each
   * query the mean of the values, weighted by the softmax of its scaled products with the keys, which are never stored.
   * `keys` and `values` may have fewer heads, each shared by an equal number of query heads. Rejects with `INVALID_ARGUMENT` for a
   * window of 0 or without `causal`. */
  async attention(keys: GpuTensor, values: GpuTensor, options: AttentionOptions = {}): Promise<GpuTensor> {
    return this.#run(attentionOp(options), { keys, values });
  }

  /** Multiplies this tensor, `[m, k]`, by the transpose of packed weights, `[n, k]`; the result is `[m, n]`. */
  matmulQuantized(weights: QuantizedWeights): Promise<GpuTensor> {
    return this.#run(weights.op, { weights: weights.words });
  }

  /** Returns the same elements without gaps, the last axis innermost: a copy, unless they are contiguous already. */
  async contiguous(): Promise<GpuTensor> {
    return new GpuTensor(await settled(() => this.#held.get().contiguous()));
  }

  /** Returns a view of the elements from `start` to before `end` of an axis. */
  slice(axis: number, start: number, end: number = this.shape[axis] ?? 0): GpuTensor {
    words("range", [axis, start, end]);
    return this.#view((raw) => raw.slice(axis, start, end));
  }

  /** Returns a view with two axes exchanged; by default the last two. */
  transpose(first: number = this.shape.length - 2, second: number = this.shape.length - 1): GpuTensor {
    checkWord("first", first);
    checkWord("second", second);
    return this.#view((raw) => raw.transpose(first, second));
  }

  /** Returns a view with the axes in another order: its axis i is axis `axes[i]` of this tensor. */
  permute(axes: Shape): GpuTensor { return this.#view((raw) => raw.permute(words("axes", axes))); }
  /** Returns a view with another shape. Throws `SHAPE_MISMATCH` for a strided tensor, which `contiguous` can copy. */
  reshape(shape: Shape): GpuTensor { return this.#view((raw) => raw.reshape(words("shape", shape))); }
  /** Returns a view with a larger shape: axes of length 1, and missing leading axes, are repeated. */
  broadcastTo(shape: Shape): GpuTensor { return this.#view((raw) => raw.broadcastTo(words("shape", shape))); }
  /** Disposes of the tensor. Work that was submitted before still runs; later calls fail with `DISPOSED`. */
  dispose(): void { this.#held.dispose(); }
  [disposal](): void { this.dispose(); }

  #norm(kind: string, { weight, bias, epsilon = 1e-5 }: NormOptions<GpuTensor>): Promise<GpuTensor> {
    return this.#run(["norm", kind, epsilon, weight !== undefined, bias !== undefined], { weight, bias });
  }

  async #run(op: Op, others: Inputs<GpuTensor> = {}): Promise<GpuTensor> {
    const begin = () => {
      const raw = this.#held.get();
      const given = Object.entries(others).filter(([, tensor]) => tensor !== undefined);
      const [second = raw, third = raw, fourth = raw] = given.map(([name, tensor]) => rawOf(name, tensor as GpuTensor));
      return raw.run(op, 1 + given.length, second, third, fourth);
    };
    return new GpuTensor(await settled(begin));
  }

  #view(look: (raw: Tensor) => Tensor): GpuTensor { return new GpuTensor(now(() => look(this.#held.get()))); }
}

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
