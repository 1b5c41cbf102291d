import { fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import type { Batch, Op } from "../wasm/tensor.js";
import { checkedFloats, words } from "./arguments.js";
import { now, settled } from "./call.js";
import { Held } from "./dispose.js";
import { type Inputs, Operations } from "./operations.js";
import { rawOf, tensorOf, type GpuTensor } from "./tensor.js";
import type { Floats, Reduction, Shape, Step } from "./types.js";

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
export class GpuCommandBatch extends Operations<BufferId, BufferId> {
  readonly #held: Held<Batch>;
  #last: Promise<unknown> = Promise.resolve();

  static {
    batchOf = (raw) => new GpuCommandBatch(raw);
  }

  private constructor(raw: Batch) {
    super();
    this.#held = new Held(raw, "batch");
  }

  /** A vector, read now, and copied to the device when the batch is executed. */
  upload(values: Float32Array): BufferId {
    const checked = checkedFloats("values", values);
    return this.#queued((raw) => raw.upload(checked));
  }

  /** A tensor that is on the device already. */
  tensor(tensor: GpuTensor): BufferId { return this.#queued((raw) => raw.tensor(rawOf("tensor", tensor))); }

  /** @internal */
  override run(op: Op, inputs: Inputs<BufferId>, shapes: readonly Shape[] = []): BufferId {
    return this.#queued((raw, number) => {
      const given = Object.entries(inputs).filter(([, id]) => id !== undefined);
      const ids = given.map(([name, id]) => number(name, id as BufferId));
      return raw.run(op, Uint32Array.from(ids), shapes.map((shape) => words("shape", shape)));
    });
  }

  /** All steps in turn of `a`; those that take two take the element of `b`. */
  apply(steps: readonly Step[], a: BufferId, b?: BufferId): BufferId { return this.steps(steps, a, b); }
  /** The sum of products: one element. */
  dot(a: BufferId, b: BufferId): BufferId { return this.run(["dot"], { a, b }); }
  /** All elements reduced to one. */
  reduce(reduction: Reduction, a: BufferId): BufferId { return this.run(["reduce", reduction], { a }); }
  /** The softmax over the last axis. */
  softmax(a: BufferId): BufferId { return this.run(["softmax", false], { a }); }
  /** The logarithm of the softmax over the last axis. */
  logSoftmax(a: BufferId): BufferId { return this.run(["softmax", true], { a }); }

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
