import { fail } from "../base/arguments.js";
import { PagepressError } from "../base/errors.js";
import type { Op } from "../wasm/tensor.js";
import { attentionOp, checkedFloats, checkWord, packedWords, words } from "./arguments.js";
import { type Inputs, Operations } from "./operations.js";
import type { AttentionOptions, Floats, NormOptions, Quantization, Reduction, Shape, Step } from "./types.js";

/** Options of a normalisation of rows. */
interface RowsOptions extends NormOptions<Float32Array> {
  /** Number of elements of a row. Default: one row of all elements. */
  cols?: number;
}

/** Options of `attention`, with the shapes of queries, and of keys and values. */
interface HeadsOptions extends AttentionOptions {
  /** Shape of the queries: `[heads, queries, elements]` or `[batch, heads, queries, elements]`. */
  shape: Shape;
  /** Shape of keys and of values. They may have fewer heads, each shared by an equal number of query heads. Default:
   * `shape`. */
  keyShape?: Shape;
}

/** Operations on arrays. Inputs are not changed; results are new arrays. NaN results in NaN, and softmax is numerically
 * stable. All reject with `LENGTH_MISMATCH` for arrays of a wrong length. */
export abstract class ArrayOperations extends Operations<Float32Array, Promise<Floats>> {
  /** @internal Runs an operation on arrays with these shapes. The arrays must not change until it is done. */
  abstract compute(op: Op, arrays: readonly Float32Array[], shapes: readonly Uint32Array[]): Promise<Floats>;

  /** @internal */
  override async run(op: Op, inputs: Inputs<Float32Array>, shapes?: readonly Shape[]): Promise<Floats> {
    const given = Object.entries(inputs).filter(([, array]) => array !== undefined);
    const arrays = given.map(([name, array]) => checkedFloats(name, array));
    return this.compute(op, arrays, arrays.map(({ length }, i) => words("shape", shapes?.[i] ?? [arrays[0]?.length ?? length])));
  }

  /** Applies `steps` in order to each element of `a`. Binary steps also use the element of `b`, which has the same
   * length. */
  elementwise(steps: readonly Step[], a: Float32Array, b?: Float32Array): Promise<Floats> { return this.steps(steps, a, b); }
  /** Returns the sum of products; 0 for empty arrays. */
  async dot(a: Float32Array, b: Float32Array): Promise<number> { return only(await this.run(["dot"], { a, b })); }

  /** Computes eˣ divided by the sum of all eˣ, in each row of `cols` elements. Default: one row. */
  softmax(a: Float32Array, cols?: number): Promise<Floats> { return this.#rows(["softmax", false], { a }, cols); }
  /** Computes the logarithm of `softmax`. */
  logSoftmax(a: Float32Array, cols?: number): Promise<Floats> { return this.#rows(["softmax", true], { a }, cols); }

  /** Computes (x - mean) / √(variance + epsilon) in each row, times `weight` plus `bias`, which have one element per
   * column. */
  layerNorm(a: Float32Array, options: RowsOptions = {}): Promise<Floats> { return this.#norm("layer", a, options); }
  /** Computes x / √(mean of squares + epsilon) in each row, times `weight` plus `bias`, which have one element per
   * column. */
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

  /** Rotates heads, `shape` `[rows, heads, elements]`, by the positions of their rows: pairs of elements i and i + elements / 2
   * by angle i of the position, which is `first` for the first row. `turns` has cosine and sine of each angle, `elements`
   * numbers for each position from 0 on. Rejects with `SHAPE_MISMATCH` for an odd number of elements. */
  async rotary(a: Float32Array, turns: Float32Array, shape: Shape, first = 0): Promise<Floats> {
    checkWord("first", first);
    const elements = shape?.[2] ?? 0;
    const positions = elements > 0 ? Math.floor(turns?.length / elements) : 0;
    return this.run(["rotary", first], { a, turns }, [shape, [positions, elements]]);
  }

  /** Computes, for each query, the mean of the values weighted by the softmax of its scaled products with the keys. The
   * result has the shape of the queries; the products are never stored. Rejects with `SHAPE_MISMATCH` if the shapes do not
   * match, and with `INVALID_ARGUMENT` for a window of 0 or without `causal`. */
  async attention(queries: Float32Array, keys: Float32Array, values: Float32Array, options: HeadsOptions): Promise<Floats> {
    const { shape, keyShape = shape } = options;
    return this.run(attentionOp(options), { queries, keys, values }, [shape, keyShape, keyShape]);
  }

  /** Multiplies `a`, `[m, k]`, by the transpose of packed weights, `[n, k]`; the result is `[m, n]`. `k` must be a multiple
   * of 256, or of 4 for `f16`. Rejects with `LENGTH_MISMATCH` if the weights have another number of bytes. */
  async matmulQuantized(a: Float32Array, weights: Uint8Array, kind: Quantization, m: number, k: number, n: number): Promise<Floats> {
    const [packed, length] = packedWords("weights", weights);
    const op: Op = ["matmulQuantized", kind, words("size", [n, k]), length];
    return this.run(op, { a, weights: packed }, [[m, k], [packed.length]]);
  }

  /** Reduces all elements, or some axes of a row-major array of this shape. */
  reduce(reduction: Reduction, a: Float32Array): Promise<number>;
  reduce(reduction: Reduction, a: Float32Array, shape: Shape, axes: Shape): Promise<Floats>;
  async reduce(reduction: Reduction, a: Float32Array, shape?: Shape, axes: Shape = []): Promise<number | Floats> {
    if (shape === undefined) return only(await this.run(["reduce", reduction], { a }));
    return this.run(["reduce", reduction, words("axes", axes)], { a }, [shape]);
  }

  /** Returns the sum of all elements. */
  sum(a: Float32Array): Promise<number> { return this.reduce("sum", a); }
  /** Returns the largest element; NaN if any element is NaN. */
  max(a: Float32Array): Promise<number> { return this.reduce("max", a); }
  /** Returns the smallest element; NaN if any element is NaN. */
  min(a: Float32Array): Promise<number> { return this.reduce("min", a); }
  /** Returns the sum of `width` times `height` elements. */
  tiledSum2d(data: Float32Array, width: number, height: number): Promise<number> { return this.#tiled("sum", data, width, height); }
  /** Returns the largest of `width` times `height` elements; NaN if any is NaN. */
  tiledMax2d(data: Float32Array, width: number, height: number): Promise<number> { return this.#tiled("max", data, width, height); }
  /** Returns the smallest of `width` times `height` elements; NaN if any is NaN. */
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
