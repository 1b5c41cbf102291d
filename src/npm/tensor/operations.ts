import type { Op } from "../wasm/tensor.js";
import type { Shape, Size2d, Step } from "./types.js";

/** Inputs by the names that errors have for them; those that are left out are undefined. */
export type Inputs<T> = Readonly<Record<string, T | undefined>>;

/** Operations that take their inputs as arguments: arrays, or tensors of a batch. `Out` is what they return. */
export abstract class Operations<In, Out> {
  /** @internal Runs an operation on inputs that it sees in these shapes. */
  abstract run(op: Op, inputs: Inputs<In>, shapes?: readonly Shape[]): Out;

  /** @internal Applies all steps in turn to `a`; those that take two take the element of `b`. */
  steps(steps: readonly Step[], a: In, b?: In): Out { return this.run(["elementwise", steps], { a, b }); }

  /** max(x, 0) */
  relu(a: In): Out { return this.steps(["relu"], a); }
  /** x above 0, else `alpha` x. */
  leakyRelu(a: In, alpha: number): Out { return this.steps([["leakyRelu", alpha]], a); }
  /** x above 0, else `alpha` (eˣ - 1). */
  elu(a: In, alpha: number): Out { return this.steps([["elu", alpha]], a); }
  /** 1 / (1 + e⁻ˣ) */
  sigmoid(a: In): Out { return this.steps(["sigmoid"], a); }
  /** tanh x */
  tanh(a: In): Out { return this.steps(["tanh"], a); }
  /** x / (1 + e⁻ˣ) */
  swish(a: In): Out { return this.steps(["swish"], a); }
  /** x Φ(x), with Φ the integral of the normal distribution. */
  gelu(a: In): Out { return this.steps(["gelu"], a); }
  /** x, but at least `min` and at most `max`. */
  clip(a: In, min: number, max: number): Out { return this.steps([["clip", min, max]], a); }
  /** x times `factor`. */
  scale(a: In, factor: number): Out { return this.steps([["scale", factor]], a); }
  /** a + b, element by element. */
  add(a: In, b: In): Out { return this.steps(["add"], a, b); }
  /** a - b, element by element. */
  sub(a: In, b: In): Out { return this.steps(["sub"], a, b); }
  /** a b, element by element. */
  mul(a: In, b: In): Out { return this.steps(["mul"], a, b); }
  /** a / b, element by element. */
  div(a: In, b: In): Out { return this.steps(["div"], a, b); }

  /** The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`: `m` rows of `n`. */
  matmul(a: In, b: In, m: number, k: number, n: number): Out { return this.run(["matmul"], { a, b }, [[m, k], [k, n]]); }

  /** The convolution of a picture with a kernel where it fits: no padding, and the kernel is not flipped. */
  convolve2d(input: In, kernel: In, size: Size2d, kernelSize: Size2d): Out {
    return this.run(["convolve2d"], { input, kernel }, [size, kernelSize]);
  }
}
