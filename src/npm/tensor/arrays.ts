import { fail } from "../base/arguments.js";
import { PagepressError } from "../base/errors.js";
import type { Op } from "../wasm/tensor.js";
import { checkedFloats, checkWord, packedWords, words } from "./arguments.js";
import { type Inputs, Operations } from "./operations.js";
import type { AttentionOptions, Floats, NormOptions, Quantization, Reduction, Shape, Step } from "./types.js";

/** Rows, and what normalises them. */
interface RowsOptions extends NormOptions<Float32Array> {
  /** Elements of a row. Default: all. */
  cols?: number;
}

/** Shapes of queries, and of keys and values. */
interface HeadsOptions extends AttentionOptions {
  /** `[heads, queries, elements]`, or with batches in front. */
  shape: Shape;
  /** Of keys and of values; there may be fewer heads, each for as many heads of queries. Default: as the queries. */
  keyShape?: Shape;
}

/** Operations on arrays, which stay as they are; results are new ones. NaN gives NaN, and softmax is stable. All reject
 * with `LENGTH_MISMATCH` for arrays that are not as long as they must be. */
export abstract class ArrayOperations extends Operations<Float32Array, Promise<Floats>> {
  /** @internal Runs an operation on arrays in shapes. The arrays are to stay as they are until it is done. */
  abstract compute(op: Op, arrays: readonly Float32Array[], shapes: readonly Uint32Array[]): Promise<Floats>;

  /** @internal */
  override async run(op: Op, inputs: Inputs<Float32Array>, shapes?: readonly Shape[]): Promise<Floats> {
    const given = Object.entries(inputs).filter(([, array]) => array !== undefined);
    const arrays = given.map(([name, array]) => checkedFloats(name, array));
    return this.compute(op, arrays, arrays.map(({ length }, i) => words("shape", shapes?.[i] ?? [arrays[0]?.length ?? length])));
  }

  /** All steps in turn of `a`; those that take two take the element of `b`, which is as long. */
  elementwise(steps: readonly Step[], a: Float32Array, b?: Float32Array): Promise<Floats> { return this.steps(steps, a, b); }
  /** The sum of products; 0 of none. */
  async dot(a: Float32Array, b: Float32Array): Promise<number> { return only(await this.run(["dot"], { a, b })); }

  /** eˣ over the sum of all eˣ, in each row of `cols` elements. Default: one row. */
  softmax(a: Float32Array, cols?: number): Promise<Floats> { return this.#rows(["softmax", false], { a }, cols); }
  /** The logarithm of `softmax`. */
  logSoftmax(a: Float32Array, cols?: number): Promise<Floats> { return this.#rows(["softmax", true], { a }, cols); }

  /** (x - mean) / √(variance + epsilon) in each row, times `weight` and plus `bias`, which have an element a column. */
  layerNorm(a: Float32Array, options: RowsOptions = {}): Promise<Floats> { return this.#norm("layer", a, options); }
  /** x / √(mean of squares + epsilon) in each row, times `weight` and plus `bias`, which have an element a column. */
  rmsNorm(a: Float32Array, options: RowsOptions = {}): Promise<Floats> { return this.#norm("rms", a, options); }

  #norm(kind: string, a: Float32Array, { weight, bias, epsilon = 1e-5, cols }: RowsOptions): Promise<Floats> {
    return this.#rows(["norm", kind, epsilon, weight !== undefined, bias !== undefined], { a, weight, bias }, cols);
  }

  async #rows(op: Op, inputs: Inputs<Float32Array>, cols?: number): Promise<Floats> {
    const a = checkedFloats("a", inputs.a);
    const width = cols ?? a.length;
    checkWord("cols", width);
    const n = a.length === 0 ? 0 : a.length / width;
    if (!Number.isInteger(n)) fail("cols", `${width} for ${a.length} elements`, "give the length of whole rows");
    return this.run(op, { ...inputs, a }, [[n, width], [width], [width]]);
  }

  /** For each query the mean of the values, weighted by the softmax of its products with the keys. The result is as the
   * queries; the products are never stored. Rejects with `SHAPE_MISMATCH` for heads that do not fit. */
  async attention(queries: Float32Array, keys: Float32Array, values: Float32Array, options: HeadsOptions): Promise<Floats> {
    const { shape, keyShape = shape, causal = false, scale } = options;
    return this.run(["attention", causal, scale], { queries, keys, values }, [shape, keyShape, keyShape]);
  }

  /** The product of `a`, `m` rows of `k`, and the transpose of packed weights, `n` rows of `k`: `m` rows of `n`. `k` is a
   * multiple of 256, or of 4 for `f16`. Rejects with `LENGTH_MISMATCH` unless there are as many bytes. */
  async matmulQuantized(a: Float32Array, weights: Uint8Array, kind: Quantization, m: number, k: number, n: number): Promise<Floats> {
    const [packed, length] = packedWords("weights", weights);
    const op: Op = ["matmulQuantized", kind, words("size", [n, k]), length];
    return this.run(op, { a, weights: packed }, [[m, k], [packed.length]]);
  }

  /** The reduction of all elements, or along some axes of an array of this shape, the last axis innermost. */
  reduce(reduction: Reduction, a: Float32Array): Promise<number>;
  reduce(reduction: Reduction, a: Float32Array, shape: Shape, axes: Shape): Promise<Floats>;
  async reduce(reduction: Reduction, a: Float32Array, shape?: Shape, axes: Shape = []): Promise<number | Floats> {
    if (shape === undefined) return only(await this.run(["reduce", reduction], { a }));
    return this.run(["reduce", reduction, words("axes", axes)], { a }, [shape]);
  }

  /** The sum of all elements. */
  sum(a: Float32Array): Promise<number> { return this.reduce("sum", a); }
  /** The largest element; NaN if one is. */
  max(a: Float32Array): Promise<number> { return this.reduce("max", a); }
  /** The smallest element; NaN if one is. */
  min(a: Float32Array): Promise<number> { return this.reduce("min", a); }
  /** The sum of `width` times `height` elements. */
  tiledSum2d(data: Float32Array, width: number, height: number): Promise<number> { return this.#tiled("sum", data, width, height); }
  /** The largest of `width` times `height` elements; NaN if one is. */
  tiledMax2d(data: Float32Array, width: number, height: number): Promise<number> { return this.#tiled("max", data, width, height); }
  /** The smallest of `width` times `height` elements; NaN if one is. */
  tiledMin2d(data: Float32Array, width: number, height: number): Promise<number> { return this.#tiled("min", data, width, height); }

  async #tiled(reduction: Reduction, a: Float32Array, width: number, height: number): Promise<number> {
    return only(await this.run(["reduce", reduction], { a }, [[height, width]]));
  }
}

function only(values: Floats): number {
  const [value] = values;
  if (value !== undefined) return value;
  throw new PagepressError("ENGINE", "the module gave no number");
}
