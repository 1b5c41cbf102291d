import type { Op } from "../wasm/tensor.js";
import { matmulOp } from "./arguments.js";
import type { MatmulOptions, Shape, Size2d, Step } from "./types.js";

/** Inputs by their names in error messages; an omitted input is undefined. */
export type Inputs<T> = Readonly<Record<string, T | undefined>>;

/** Operations whose inputs are arguments: arrays, or tensors of a batch. `Out` is the type of their results. */
export abstract class Operations<In, Out> {
  /** @internal Runs an operation on inputs, interpreted with these shapes. */
  abstract run(op: Op, inputs: Inputs<In>, shapes?: readonly Shape[]): Out;

  /** @internal Applies `steps` in order to each element of `a`. Binary steps also use the element of `b`. */
  steps(steps: readonly Step[], a: In, b?: In): Out { return this.run(["elementwise", steps], { a, b }); }

  /** Computes max(x, 0). */
  relu(a: In): Out { return this.steps(["relu"], a); }
  /** Computes x if it is above 0, else `alpha` x. */
  leakyRelu(a: In, alpha: number): Out { return this.steps([["leakyRelu", alpha]], a); }
  /** Computes x if it is above 0, else `alpha` (eˣ - 1). */
  elu(a: In, alpha: number): Out { return this.steps([["elu", alpha]], a); }
  /** Computes 1 / (1 + e⁻ˣ). */
  sigmoid(a: In): Out { return this.steps(["sigmoid"], a); }
  /** Computes tanh x. */
  tanh(a: In): Out { return this.steps(["tanh"], a); }
  /** Computes x / (1 + e⁻ˣ). */
  swish(a: In): Out { return this.steps(["swish"], a); }
  /** Computes x Φ(x), where Φ is the cumulative distribution function of the standard normal distribution. */
  gelu(a: In): Out { return this.steps(["gelu"], a); }
  /** Limits x to the range from `min` to `max`. */
  clip(a: In, min: number, max: number): Out { return this.steps([["clip", min, max]], a); }
  /** Computes x times `factor`. */
  scale(a: In, factor: number): Out { return this.steps([["scale", factor]], a); }
  /** Computes a + b, element by element. */
  add(a: In, b: In): Out { return this.steps(["add"], a, b); }
  /** Computes a - b, element by element. */
  sub(a: In, b: In): Out { return this.steps(["sub"], a, b); }
  /** Computes a b, element by element. */
  mul(a: In, b: In): Out { return this.steps(["mul"], a, b); }
  /** Computes a / b, element by element. */
  div(a: In, b: In): Out { return this.steps(["div"], a, b); }

  /** Multiplies `a`, `[m, k]`, by `b`, `[k, n]`; the result is `[m, n]`, row-major. `options` add a bias to each column, `[n]`,
   * apply an activation, and add a residual, `[m, n]`. */
  matmul(a: In, b: In, m: number, k: number, n: number, options: MatmulOptions<In> = {}): Out {
    const { bias, residual } = options;
    const shapes: Shape[] = [[m, k], [k, n]];
    if (bias !== undefined) shapes.push([n]);
    if (residual !== undefined) shapes.push([m, n]);
    return this.run(matmulOp(options), { a, b, bias, residual }, shapes);
  }

  /** Convolves an image with a kernel, without padding, and without flipping the kernel. */
  convolve2d(input: In, kernel: In, size: Size2d, kernelSize: Size2d): Out {
    return this.run(["convolve2d"], { input, kernel }, [size, kernelSize]);
  }
}
