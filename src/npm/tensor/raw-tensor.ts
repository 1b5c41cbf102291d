import type { Call } from "../module-call.js";
import type { DeviceBuffer } from "../types.js";
import { type Floats, Raw, type TensorExports, type TensorModule } from "./raw.js";

/** A tensor of the module. */
export class RawTensor extends Raw {
  constructor(module: TensorModule, at: number) {
    super(module, at, module.exports.tensor_free);
  }

  /** Place of the first element in the buffer, lengths of the axes, and their strides. */
  view(): { offset: number; shape: number[]; strides: number[] } {
    const words = new Uint32Array(this.module.bytes(this.use((at) => this.module.exports.tensor_view(at))).buffer);
    const [offset = 0, ...sizes] = words;
    const rank = sizes.length / 2;
    return { offset, shape: sizes.slice(0, rank), strides: sizes.slice(rank) };
  }

  buffer(): DeviceBuffer {
    return this.module.values.get(this.use((at) => this.module.exports.tensor_buffer(at)));
  }

  slice(axis: number, start: number, end: number): RawTensor {
    return this.#look((exports, at) => exports.tensor_slice(at, axis, start, end));
  }

  transpose(first: number, second: number): RawTensor {
    return this.#look((exports, at) => exports.tensor_transpose(at, first, second));
  }

  permute(axes: Uint32Array): RawTensor {
    return this.#look((exports, at) => exports.tensor_permute(at, this.module.bytesOf(axes)));
  }

  reshape(dims: Uint32Array): RawTensor {
    return this.#look((exports, at) => exports.tensor_reshape(at, this.module.bytesOf(dims)));
  }

  broadcastTo(dims: Uint32Array): RawTensor {
    return this.#look((exports, at) => exports.tensor_broadcast(at, this.module.bytesOf(dims)));
  }

  read(): Call<Floats> {
    return this.floats((exports, at) => exports.tensor_read(at));
  }

  apply(steps: Float32Array, other?: RawTensor): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_apply(at, this.module.bytesOf(steps), other?.at ?? 0));
  }

  contiguous(): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_contiguous(at));
  }

  /** Without axes all elements, to a tensor without axes. */
  reduce(reduction: number, axes?: Uint32Array): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_reduce(at, reduction, axes ? this.module.bytesOf(axes) : 0));
  }

  dot(other: RawTensor): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_dot(at, other.at));
  }

  softmax(log: boolean): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_softmax(at, log ? 1 : 0));
  }

  matmul(other: RawTensor): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_matmul(at, other.at));
  }

  convolve2d(kernel: RawTensor): Call<RawTensor> {
    return this.#make((exports, at) => exports.tensor_convolve2d(at, kernel.at));
  }

  #make(begin: (exports: TensorExports, at: number) => number): Call<RawTensor> {
    return this.call(begin, (number) => new RawTensor(this.module, number));
  }

  #look(look: (exports: TensorExports, at: number) => number): RawTensor {
    const { module } = this;
    return new RawTensor(module, this.use((at) => module.made(look(module.exports, at))));
  }
}
