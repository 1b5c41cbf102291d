import { PagepressError } from "../base/errors.js";
import type { TensorModule } from "../modules/load.js";
import type { Operation } from "../wasm/tensor.js";
import { checkedFloats, checkWord, words } from "./arguments.js";
import type { Floats, Reduction, Shape, Size2d, Step } from "./types.js";

/** Operations on arrays, which stay as they are; results are new ones. NaN gives NaN, and softmax is stable. All reject
 * with `LENGTH_MISMATCH` for arrays that are not as long as they must be. */
export abstract class ArrayOperations {
  /** @internal What an operation gives. The arrays are to be as long as they are now when it is made. */
  abstract run(arrays: readonly Float32Array[], make: (module: TensorModule["glue"]) => Operation): Promise<Floats>;

  /** All steps in turn of `a`; those that take two take the element of `b`, which is as long. */
  async elementwise(steps: readonly Step[], a: Float32Array, b?: Float32Array): Promise<Floats> {
    const first = checkedFloats("a", a);
    const second = b === undefined ? undefined : checkedFloats("b", b);
    return this.run(second ? [first, second] : [first], ({ Operation }) => Operation.elementwise(steps, first, second));
  }

  /** max(x, 0) */
  relu(a: Float32Array): Promise<Floats> { return this.elementwise(["relu"], a); }
  /** x above 0, else `alpha` x. */
  leakyRelu(a: Float32Array, alpha: number): Promise<Floats> { return this.elementwise([["leakyRelu", alpha]], a); }
  /** x above 0, else `alpha` (eˣ - 1). */
  elu(a: Float32Array, alpha: number): Promise<Floats> { return this.elementwise([["elu", alpha]], a); }
  /** 1 / (1 + e⁻ˣ) */
  sigmoid(a: Float32Array): Promise<Floats> { return this.elementwise(["sigmoid"], a); }
  tanh(a: Float32Array): Promise<Floats> { return this.elementwise(["tanh"], a); }
  /** x / (1 + e⁻ˣ) */
  swish(a: Float32Array): Promise<Floats> { return this.elementwise(["swish"], a); }
  /** x Φ(x), with Φ the integral of the normal distribution. */
  gelu(a: Float32Array): Promise<Floats> { return this.elementwise(["gelu"], a); }
  /** x, but at least `min` and at most `max`. */
  clip(a: Float32Array, min: number, max: number): Promise<Floats> { return this.elementwise([["clip", min, max]], a); }
  /** x times `factor`. */
  scale(a: Float32Array, factor: number): Promise<Floats> { return this.elementwise([["scale", factor]], a); }
  /** a + b, element by element. */
  add(a: Float32Array, b: Float32Array): Promise<Floats> { return this.elementwise(["add"], a, b); }
  /** a - b, element by element. */
  sub(a: Float32Array, b: Float32Array): Promise<Floats> { return this.elementwise(["sub"], a, b); }
  /** a b, element by element. */
  mul(a: Float32Array, b: Float32Array): Promise<Floats> { return this.elementwise(["mul"], a, b); }
  /** a / b, element by element. */
  div(a: Float32Array, b: Float32Array): Promise<Floats> { return this.elementwise(["div"], a, b); }

  /** The sum of products; 0 of none. */
  async dot(a: Float32Array, b: Float32Array): Promise<number> {
    const [first, second] = [checkedFloats("a", a), checkedFloats("b", b)];
    return only(await this.run([first, second], ({ Operation }) => Operation.dot(first, second)));
  }

  /** eˣ over the sum of all eˣ, in each row of `cols` elements. Default: one row. */
  softmax(a: Float32Array, cols?: number): Promise<Floats> { return this.#softmax(false, a, cols); }
  /** The logarithm of `softmax`. */
  logSoftmax(a: Float32Array, cols?: number): Promise<Floats> { return this.#softmax(true, a, cols); }

  async #softmax(log: boolean, a: Float32Array, cols: number | undefined): Promise<Floats> {
    const values = checkedFloats("a", a);
    const rowLength = cols ?? values.length;
    checkWord("cols", rowLength);
    return this.run([values], ({ Operation }) => Operation.softmax(log, values, rowLength));
  }

  /** The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`: `m` rows of `n`. */
  async matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number): Promise<Floats> {
    const [first, second] = [checkedFloats("a", a), checkedFloats("b", b)];
    words("size", [m, k, n]);
    return this.run([first, second], ({ Operation }) => Operation.matmul(first, second, m, k, n));
  }

  /** The convolution of a picture with a kernel where it fits: no padding, and the kernel is not flipped. */
  async convolve2d(input: Float32Array, kernel: Float32Array, size: Size2d, kernelSize: Size2d): Promise<Floats> {
    const [picture, small] = [checkedFloats("input", input), checkedFloats("kernel", kernel)];
    const [inputWords, kernelWords] = [words("size", size), words("kernelSize", kernelSize)];
    return this.run([picture, small], ({ Operation }) => Operation.convolve2d(picture, small, inputWords, kernelWords));
  }

  /** The reduction of all elements, or along some axes of an array of this shape, the last axis innermost. */
  reduce(reduction: Reduction, a: Float32Array): Promise<number>;
  reduce(reduction: Reduction, a: Float32Array, shape: Shape, axes: Shape): Promise<Floats>;
  async reduce(
    reduction: Reduction,
    a: Float32Array,
    shape?: Shape,
    axes?: Shape,
  ): Promise<number | Floats> {
    const values = checkedFloats("a", a);
    const isWhole = shape === undefined;
    const [dims, along] = [words("shape", shape ?? [values.length]), words("axes", isWhole ? [0] : (axes ?? []))];
    const made = await this.run([values], ({ Operation }) => Operation.reduce(reduction, values, dims, along));
    return isWhole ? only(made) : made;
  }

  /** The sum of all elements. */
  sum(a: Float32Array): Promise<number> { return this.reduce("sum", a); }
  /** The largest element; NaN if one is. */
  max(a: Float32Array): Promise<number> { return this.reduce("max", a); }
  /** The smallest element; NaN if one is. */
  min(a: Float32Array): Promise<number> { return this.reduce("min", a); }

  /** The sum of `width` times `height` elements. */
  tiledSum2d(data: Float32Array, width: number, height: number): Promise<number> {
    return this.#tiled("sum", data, width, height);
  }

  /** The largest of `width` times `height` elements; NaN if one is. */
  tiledMax2d(data: Float32Array, width: number, height: number): Promise<number> {
    return this.#tiled("max", data, width, height);
  }

  /** The smallest of `width` times `height` elements; NaN if one is. */
  tiledMin2d(data: Float32Array, width: number, height: number): Promise<number> {
    return this.#tiled("min", data, width, height);
  }

  async #tiled(reduction: Reduction, data: Float32Array, width: number, height: number): Promise<number> {
    return only(await this.reduce(reduction, data, [height, width], [0, 1]));
  }
}

function only(values: Floats): number {
  const [value] = values;
  if (value !== undefined) return value;
  throw new PagepressError("ENGINE", "the module gave no number");
}
