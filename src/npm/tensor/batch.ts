import { fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import type { Batch } from "../wasm/tensor.js";
import { checkedFloats, words } from "./arguments.js";
import { now, settled } from "./call.js";
import { Held } from "./dispose.js";
import { rawOf, tensorOf, type GpuTensor } from "./tensor.js";
import type { Floats, Reduction, Size2d, Step } from "./types.js";

/** No batch has as many tensors: what is wrong with this number is said when the batch is executed. */
const NO_NUMBER = 2 ** 32 - 1;

/** The number of an id in the batch of a call; throws `INVALID_ARGUMENT` for what is no id. */
type NumberOf = (name: string, id: BufferId) => number;

let numberOf: (name: string, id: BufferId, batch: Batch) => number;
let idOf: (batch: Batch, number: number) => BufferId;

/** @internal A batch of the package over one of the module. */
export let batchOf: (raw: Batch) => GpuCommandBatch;

/** A tensor of a batch. It is of use to that batch alone. */
export class BufferId {
  readonly #batch: Batch;
  readonly #number: number;

  static {
    idOf = (batch, number) => new BufferId(batch, number);
    numberOf = (name, id, batch) => {
      if (typeof id !== "object" || id === null || !(#batch in id)) return fail(name, typeof id, "give an id of this batch");
      return id.#batch === batch ? id.#number : NO_NUMBER;
    };
  }

  private constructor(batch: Batch, number: number) {
    this.#batch = batch;
    this.#number = number;
  }
}

/** Operations that are queued, and run in one submission by `execute`. What is wrong with one, an id of another batch too,
 * is said when the batch is executed, and nothing of it runs then. Chains of element-wise operations become one launch,
 * and memory that nothing needs any more is used again; every tensor can be read all the same. */
export class GpuCommandBatch {
  readonly #held: Held<Batch>;
  #last: Promise<unknown> = Promise.resolve();

  static {
    batchOf = (raw) => new GpuCommandBatch(raw);
  }

  private constructor(raw: Batch) {
    this.#held = new Held(raw, "batch");
  }

  /** A vector, read now, and copied to the device when the batch is executed. */
  upload(values: Float32Array): BufferId {
    const checked = checkedFloats("values", values);
    return this.#queued((raw) => raw.upload(checked));
  }

  /** A tensor that is on the device already. */
  tensor(tensor: GpuTensor): BufferId { return this.#queued((raw) => raw.tensor(rawOf("tensor", tensor))); }

  /** All steps in turn of `a`; those that take two take the element of `b`. */
  apply(steps: readonly Step[], a: BufferId, b?: BufferId): BufferId {
    return this.#queued((raw, number) => raw.apply(steps, number("a", a), b && number("b", b)));
  }

  relu(a: BufferId): BufferId { return this.apply(["relu"], a); }
  leakyRelu(a: BufferId, alpha: number): BufferId { return this.apply([["leakyRelu", alpha]], a); }
  elu(a: BufferId, alpha: number): BufferId { return this.apply([["elu", alpha]], a); }
  sigmoid(a: BufferId): BufferId { return this.apply(["sigmoid"], a); }
  tanh(a: BufferId): BufferId { return this.apply(["tanh"], a); }
  swish(a: BufferId): BufferId { return this.apply(["swish"], a); }
  gelu(a: BufferId): BufferId { return this.apply(["gelu"], a); }
  clip(a: BufferId, min: number, max: number): BufferId { return this.apply([["clip", min, max]], a); }
  scale(a: BufferId, factor: number): BufferId { return this.apply([["scale", factor]], a); }
  add(a: BufferId, b: BufferId): BufferId { return this.apply(["add"], a, b); }
  mul(a: BufferId, b: BufferId): BufferId { return this.apply(["mul"], a, b); }
  /** The sum of products: one element. */
  dot(a: BufferId, b: BufferId): BufferId { return this.#queued((raw, number) => raw.dot(number("a", a), number("b", b))); }

  /** The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`. */
  matmul(a: BufferId, b: BufferId, m: number, k: number, n: number): BufferId {
    words("size", [m, k, n]);
    return this.#queued((raw, number) => raw.matmul(number("a", a), number("b", b), m, k, n));
  }

  /** The convolution of a picture with a kernel where it fits. */
  convolve2d(input: BufferId, kernel: BufferId, size: Size2d, kernelSize: Size2d): BufferId {
    const sizes = [size[0], size[1], kernelSize[0], kernelSize[1]] as const;
    words("size", sizes);
    return this.#queued((raw, number) => raw.convolve2d(number("input", input), number("kernel", kernel), ...sizes));
  }

  /** All elements reduced to one. */
  reduce(reduction: Reduction, a: BufferId): BufferId {
    return this.#queued((raw, number) => raw.reduce(reduction, number("a", a)));
  }

  /** The softmax over the last axis. */
  softmax(a: BufferId): BufferId { return this.#queued((raw, number) => raw.softmax(false, number("a", a))); }
  /** The logarithm of the softmax over the last axis. */
  logSoftmax(a: BufferId): BufferId { return this.#queued((raw, number) => raw.softmax(true, number("a", a))); }

  /** Runs what was queued since the last time, in one submission, and waits for it. Gives the time of the kernels by the
   * device's clock in nanoseconds; null where it has none, or nothing ran. */
  execute(): Promise<number | null> { return this.#inTurn((raw) => raw.execute()); }
  /** The elements of a tensor of the batch, which is made first if it is not there. */
  async read(id: BufferId): Promise<Floats> { return this.#inTurn((raw, number) => raw.read(number("id", id))); }

  /** A tensor of the batch, which stays on the device. It is made first if it is not there. */
  async result(id: BufferId): Promise<GpuTensor> {
    return tensorOf(await this.#inTurn((raw, number) => raw.result(number("id", id))));
  }

  /** Gives the batch and its tensors up, but for those that `result` gave. */
  dispose(): void { this.#held.dispose(); }
  [disposal](): void { this.dispose(); }

  #queued(queue: (raw: Batch, number: NumberOf) => number): BufferId {
    const raw = this.#held.get();
    return idOf(raw, now(() => queue(raw, (name, id) => numberOf(name, id, raw))));
  }

  #inTurn<T>(begin: (raw: Batch, number: NumberOf) => Promise<T>): Promise<T> {
    const made = this.#last.then(() => {
      const raw = this.#held.get();
      return settled(() => begin(raw, (name, id) => numberOf(name, id, raw)));
    });
    this.#last = made.catch(() => undefined);
    return made;
  }
}
