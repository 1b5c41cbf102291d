import { fail } from "../arguments.js";
import { checkedFloats, encode, reductionNumber, words } from "./arguments.js";
import { now, valueOf } from "./call.js";
import { disposal, Held } from "./dispose.js";
import type { Call } from "../module-call.js";
import type { Floats } from "./raw.js";
import type { RawBatch, RawId } from "./raw-batch.js";
import { rawOf, tensorOf, type GpuTensor } from "./tensor.js";
import type { Reduction, Size2d, Step } from "./types.js";

let rawId: (name: string, id: BufferId) => RawId;
let idOf: (raw: RawId) => BufferId;

/** A batch of the package over one of the module. */
export let batchOf: (raw: RawBatch) => GpuCommandBatch;

/** A tensor of a batch. It is of use to that batch alone. */
export class BufferId {
  readonly #raw: RawId;

  static {
    idOf = (raw) => new BufferId(raw);
    rawId = (name, id) => {
      if (typeof id === "object" && id !== null && #raw in id) return id.#raw;
      return fail(name, typeof id, "give an id of this batch");
    };
  }

  private constructor(raw: RawId) {
    this.#raw = raw;
  }
}

/** Operations that are queued, and run in one submission by `execute`. What is wrong with one, an id of another batch too,
 * is said when the batch is executed, and nothing of it runs then. Chains of element-wise operations become one launch,
 * and memory that nothing needs any more is used again; every tensor can be read all the same. */
export class GpuCommandBatch {
  readonly #held: Held<RawBatch>;
  #last: Promise<unknown> = Promise.resolve();

  static {
    batchOf = (raw) => new GpuCommandBatch(raw);
  }

  private constructor(raw: RawBatch) {
    this.#held = new Held(raw, "batch");
  }

  /** A vector, read now, and copied to the device when the batch is executed. */
  upload(values: Float32Array): BufferId {
    const checked = checkedFloats("values", values);
    return this.#queued((raw) => raw.upload(checked));
  }

  /** A tensor that is on the device already. */
  tensor(tensor: GpuTensor): BufferId {
    return this.#queued((raw) => raw.tensor(rawOf("tensor", tensor)));
  }

  /** All steps in turn of `a`; those that take two take the element of `b`. */
  apply(steps: readonly Step[], a: BufferId, b?: BufferId): BufferId {
    const encoded = encode(steps);
    return this.#queued((raw) => raw.apply(encoded, rawId("a", a), b && rawId("b", b)));
  }

  relu(a: BufferId): BufferId {
    return this.apply(["relu"], a);
  }

  leakyRelu(a: BufferId, alpha: number): BufferId {
    return this.apply([["leakyRelu", alpha]], a);
  }

  elu(a: BufferId, alpha: number): BufferId {
    return this.apply([["elu", alpha]], a);
  }

  sigmoid(a: BufferId): BufferId {
    return this.apply(["sigmoid"], a);
  }

  tanh(a: BufferId): BufferId {
    return this.apply(["tanh"], a);
  }

  swish(a: BufferId): BufferId {
    return this.apply(["swish"], a);
  }

  gelu(a: BufferId): BufferId {
    return this.apply(["gelu"], a);
  }

  clip(a: BufferId, min: number, max: number): BufferId {
    return this.apply([["clip", min, max]], a);
  }

  scale(a: BufferId, factor: number): BufferId {
    return this.apply([["scale", factor]], a);
  }

  add(a: BufferId, b: BufferId): BufferId {
    return this.apply(["add"], a, b);
  }

  mul(a: BufferId, b: BufferId): BufferId {
    return this.apply(["mul"], a, b);
  }

  /** The sum of products: one element. */
  dot(a: BufferId, b: BufferId): BufferId {
    return this.#queued((raw) => raw.dot(rawId("a", a), rawId("b", b)));
  }

  /** The product of `a`, `m` rows of `k`, and `b`, `k` rows of `n`. */
  matmul(a: BufferId, b: BufferId, m: number, k: number, n: number): BufferId {
    words("size", [m, k, n]);
    return this.#queued((raw) => raw.matmul(rawId("a", a), rawId("b", b), m, k, n));
  }

  /** The convolution of a picture with a kernel where it fits. */
  convolve2d(input: BufferId, kernel: BufferId, size: Size2d, kernelSize: Size2d): BufferId {
    words("size", [size[0], size[1], kernelSize[0], kernelSize[1]]);
    return this.#queued((raw) =>
      raw.convolve2d(rawId("input", input), rawId("kernel", kernel), size, kernelSize),
    );
  }

  /** All elements reduced to one. */
  reduce(reduction: Reduction, a: BufferId): BufferId {
    const number = reductionNumber(reduction);
    return this.#queued((raw) => raw.reduce(number, rawId("a", a)));
  }

  /** The softmax over the last axis. */
  softmax(a: BufferId): BufferId {
    return this.#queued((raw) => raw.softmax(false, rawId("a", a)));
  }

  /** The logarithm of the softmax over the last axis. */
  logSoftmax(a: BufferId): BufferId {
    return this.#queued((raw) => raw.softmax(true, rawId("a", a)));
  }

  /** Runs what was queued since the last time, in one submission, and waits for it. Gives the time of the kernels by the
   * device's clock in nanoseconds; null where it has none, or nothing ran. */
  execute(): Promise<number | null> {
    return this.#inTurn((raw) => raw.execute());
  }

  /** The elements of a tensor of the batch, which is made first if it is not there. */
  async read(id: BufferId): Promise<Floats> {
    const raw = rawId("id", id);
    return this.#inTurn((batch) => batch.read(raw));
  }

  /** A tensor of the batch, which stays on the device. It is made first if it is not there. */
  async result(id: BufferId): Promise<GpuTensor> {
    const raw = rawId("id", id);
    return tensorOf(await this.#inTurn((batch) => batch.result(raw)));
  }

  /** Gives the batch and its tensors up, but for those that `result` gave. */
  dispose(): void {
    this.#held.dispose();
  }

  [disposal](): void {
    this.dispose();
  }

  #queued(queue: (raw: RawBatch) => RawId): BufferId {
    return idOf(now(() => queue(this.#held.get())));
  }

  #inTurn<T>(begin: (raw: RawBatch) => Call<T>): Promise<T> {
    const made = this.#last.then(() => valueOf(() => begin(this.#held.get())));
    this.#last = made.catch(() => undefined);
    return made;
  }
}
