import { fail } from "../base/arguments.js";
import { disposal } from "../base/disposal.js";
import { SerialQueue } from "../base/serial-queue.js";
import type { Batch, Op } from "../wasm/tensor.js";
import { checkedFloats, words } from "./arguments.js";
import { now, settled } from "./call.js";
import { Held } from "./dispose.js";
import { type Inputs, Operations } from "./operations.js";
import { rawOf, tensorOf, type GpuTensor } from "./tensor.js";
import type { Floats, Reduction, Shape, Step } from "./types.js";

/** Number of an id of another batch. No batch has as many tensors, so `execute` reports it as invalid. */
const NO_NUMBER = 2 ** 32 - 1;

/** Returns the number of an id in the batch of a call; throws `INVALID_ARGUMENT` for other values. */
type NumberOf = (name: string, id: BufferId) => number;

let numberOf: (name: string, id: BufferId, batch: Batch) => number;
let idOf: (batch: Batch, number: number) => BufferId;

/** @internal Wraps a batch of the module in a `GpuCommandBatch`. */
export let batchOf: (raw: Batch) => GpuCommandBatch;

/** Identifies a tensor of a batch. It is valid only in that batch. */
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

/** Queues operations, which `execute` runs in one submission. An invalid operation, such as one with an id of another batch,
 * is reported by `execute`, which then runs nothing. Chains of element-wise operations are fused into one launch, and
 * memory that is no longer needed is reused; every tensor can still be read. */
export class GpuCommandBatch extends Operations<BufferId, BufferId> {
  readonly #held: Held<Batch>;
  readonly #queue = new SerialQueue();

  static {
    batchOf = (raw) => new GpuCommandBatch(raw);
  }

  private constructor(raw: Batch) {
    super();
    this.#held = new Held(raw, "batch");
  }

  /** Adds a vector. It is read now, and copied to the device by `execute`. */
  upload(values: Float32Array): BufferId {
    const checked = checkedFloats("values", values);
    return this.#queued((raw) => raw.upload(checked));
  }

  /** Adds a tensor that is already on the device. */
  tensor(tensor: GpuTensor): BufferId { return this.#queued((raw) => raw.tensor(rawOf("tensor", tensor))); }

  /** @internal */
  override run(op: Op, inputs: Inputs<BufferId>, shapes: readonly Shape[] = []): BufferId {
    return this.#queued((raw, number) => {
      const given = Object.entries(inputs).filter(([, id]) => id !== undefined);
      const ids = given.map(([name, id]) => number(name, id as BufferId));
      return raw.run(op, Uint32Array.from(ids), shapes.map((shape) => words("shape", shape)));
    });
  }

  /** Applies `steps` in order to each element of `a`. Binary steps also use the element of `b`. */
  apply(steps: readonly Step[], a: BufferId, b?: BufferId): BufferId { return this.steps(steps, a, b); }
  /** Computes the sum of products, one element. */
  dot(a: BufferId, b: BufferId): BufferId { return this.run(["dot"], { a, b }); }
  /** Reduces all elements to one. */
  reduce(reduction: Reduction, a: BufferId): BufferId { return this.run(["reduce", reduction], { a }); }
  /** Computes the softmax over the last axis. */
  softmax(a: BufferId): BufferId { return this.run(["softmax", false], { a }); }
  /** Computes the logarithm of the softmax over the last axis. */
  logSoftmax(a: BufferId): BufferId { return this.run(["softmax", true], { a }); }

  /** Runs the operations queued since the last call, in one submission, and waits for them. Returns the time of the kernels
   * by the device's clock in nanoseconds; null if it has no clock, or if nothing ran. */
  execute(): Promise<number | null> { return this.#inTurn((raw) => raw.execute()); }
  /** Returns the elements of a tensor of the batch, which is computed first if necessary. */
  async read(id: BufferId): Promise<Floats> { return this.#inTurn((raw, number) => raw.read(number("id", id))); }

  /** Returns a tensor of the batch, which stays on the device. It is computed first if necessary. */
  async result(id: BufferId): Promise<GpuTensor> {
    return tensorOf(await this.#inTurn((raw, number) => raw.result(number("id", id))));
  }

  /** Disposes of the batch and its tensors, except for those that `result` returned. */
  dispose(): void { this.#held.dispose(); }
  [disposal](): void { this.dispose(); }

  #queued(queue: (raw: Batch, number: NumberOf) => number): BufferId {
    const raw = this.#held.get();
    return idOf(raw, now(() => queue(raw, (name, id) => numberOf(name, id, raw))));
  }

  #inTurn<T>(begin: (raw: Batch, number: NumberOf) => Promise<T>): Promise<T> {
    return this.#queue.run(() => {
      const raw = this.#held.get();
      return settled(() => begin(raw, (name, id) => numberOf(name, id, raw)));
    });
  }
}
