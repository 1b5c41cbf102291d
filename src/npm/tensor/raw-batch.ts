import type { Call } from "../module-call.js";
import type { Status } from "../module-memory.js";
import { type Floats, Raw, type TensorExports, type TensorModule } from "./raw.js";
import { RawTensor } from "./raw-tensor.js";

/** A tensor of a batch. */
export interface RawId {
  readonly batch: RawBatch;
  readonly number: number;
}

/** No batch has as many tensors. */
const NO_NUMBER = 2 ** 32 - 1;

/** A batch of the module. */
export class RawBatch extends Raw {
  constructor(module: TensorModule, at: number) {
    super(module, at, module.exports.batch_free);
  }

  upload(values: Float32Array): RawId {
    return this.#queue((exports, at) => exports.batch_upload(at, this.module.bytesOf(values)));
  }

  tensor(tensor: RawTensor): RawId {
    return this.#queue((exports, at) => exports.batch_tensor(at, tensor.at));
  }

  apply(steps: Float32Array, a: RawId, b?: RawId): RawId {
    return this.#queue((exports, at) => {
      const second = b ? this.#number(b) : 0;
      return exports.batch_apply(at, this.module.bytesOf(steps), this.#number(a), b ? 1 : 0, second);
    });
  }

  dot(a: RawId, b: RawId): RawId {
    return this.#queue((exports, at) => exports.batch_dot(at, this.#number(a), this.#number(b)));
  }

  matmul(a: RawId, b: RawId, m: number, k: number, n: number): RawId {
    return this.#queue((exports, at) => exports.batch_matmul(at, this.#number(a), this.#number(b), m, k, n));
  }

  convolve2d(input: RawId, kernel: RawId, size: readonly [number, number], kernelSize: readonly [number, number]): RawId {
    return this.#queue((exports, at) =>
      exports.batch_convolve2d(at, this.#number(input), this.#number(kernel), ...size, ...kernelSize),
    );
  }

  reduce(reduction: number, a: RawId): RawId {
    return this.#queue((exports, at) => exports.batch_reduce(at, reduction, this.#number(a)));
  }

  softmax(log: boolean, a: RawId): RawId {
    return this.#queue((exports, at) => exports.batch_softmax(at, log ? 1 : 0, this.#number(a)));
  }

  execute(): Call<number | null> {
    return this.call((exports, at) => exports.batch_execute(at), (ns) => (ns < 0 ? null : ns));
  }

  read(id: RawId): Call<Floats> {
    return this.floats((exports, at) => exports.batch_read(at, this.#number(id)));
  }

  result(id: RawId): Call<RawTensor> {
    const begin = (exports: TensorExports, at: number): number => exports.batch_result(at, this.#number(id));
    return this.call(begin, (number) => new RawTensor(this.module, number));
  }

  /** The number of a tensor; one that the batch does not have for those of others, which is wrong when it is executed. */
  #number({ batch, number }: RawId): number {
    return batch === this ? number : NO_NUMBER;
  }

  #queue(queue: (exports: TensorExports, at: number) => Status): RawId {
    const { module } = this;
    const bytes = this.use((at) => module.bytes(queue(module.exports, at)));
    const [number = NO_NUMBER] = new Uint32Array(bytes.buffer);
    return { batch: this, number };
  }
}
