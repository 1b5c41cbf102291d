import type { Call } from "../module-call.js";
import { type CallExports, type CallModule, ModuleCall } from "../module-call.js";
import { Held, type Status } from "../module-memory.js";

/** What the module of tensors exports; `src/web/tensor` says what each function takes and gives. */
export interface TensorExports extends CallExports {
  device_open(isLowPower: number, allowSoftware: number): number;
  device_borrow(device: number): number;
  device_number(device: number): number;
  device_close(device: number): void;
  device_free(device: number): void;
  device_synchronize(device: number): number;
  device_upload(device: number, values: number, dims: number): number;
  device_empty(device: number, dims: number): number;
  device_compile(device: number, wgsl: number, entry: number, bindings: number, names: number, values: number): number;
  device_launch(device: number, kernel: number, x: number, y: number, z: number, args: number): Status;
  kernel_free(kernel: number): void;
  tensor_view(tensor: number): Status;
  tensor_buffer(tensor: number): number;
  tensor_free(tensor: number): void;
  tensor_slice(tensor: number, axis: number, start: number, end: number): number;
  tensor_transpose(tensor: number, first: number, second: number): number;
  tensor_permute(tensor: number, axes: number): number;
  tensor_reshape(tensor: number, dims: number): number;
  tensor_broadcast(tensor: number, dims: number): number;
  tensor_read(tensor: number): number;
  tensor_apply(tensor: number, steps: number, other: number): number;
  tensor_contiguous(tensor: number): number;
  tensor_reduce(tensor: number, reduction: number, axes: number): number;
  tensor_dot(tensor: number, other: number): number;
  tensor_softmax(tensor: number, log: number): number;
  tensor_matmul(tensor: number, other: number): number;
  tensor_convolve2d(tensor: number, kernel: number): number;
  arrays_elementwise(device: number, backend: number, steps: number, a: number, b: number): number;
  arrays_dot(device: number, backend: number, a: number, b: number): number;
  arrays_softmax(device: number, backend: number, log: number, a: number, cols: number): number;
  arrays_matmul(device: number, backend: number, a: number, b: number, m: number, k: number, n: number): number;
  arrays_convolve2d(
    device: number,
    backend: number,
    input: number,
    kernel: number,
    size: number,
    kernelSize: number,
  ): number;
  arrays_reduce(device: number, backend: number, reduction: number, a: number, dims: number, axes: number): number;
  backend_new(device: number): number;
  backend_free(backend: number): void;
  backend_last(backend: number): Status;
  batch_new(device: number): number;
  batch_free(batch: number): void;
  batch_upload(batch: number, values: number): Status;
  batch_tensor(batch: number, tensor: number): Status;
  batch_apply(batch: number, steps: number, a: number, hasB: number, b: number): Status;
  batch_dot(batch: number, a: number, b: number): Status;
  batch_matmul(batch: number, a: number, b: number, m: number, k: number, n: number): Status;
  batch_convolve2d(
    batch: number,
    input: number,
    kernel: number,
    rows: number,
    cols: number,
    kernelRows: number,
    kernelCols: number,
  ): Status;
  batch_reduce(batch: number, reduction: number, a: number): Status;
  batch_softmax(batch: number, log: number, a: number): Status;
  batch_execute(batch: number): number;
  batch_read(batch: number, id: number): number;
  batch_result(batch: number, id: number): number;
}

export type TensorModule = CallModule<TensorExports>;

export type Floats = Float32Array<ArrayBuffer>;

/** An object of the module. */
export abstract class Raw extends Held<TensorModule> {
  /** Where it is, for as long as nobody frees it. */
  get at(): number {
    return this.use((at) => at);
  }

  /** A call whose value `read` makes of a number. */
  protected call<T>(begin: (exports: TensorExports, at: number) => number, read: (number: number) => T): Call<T> {
    return new ModuleCall(this.module, this.use((at) => begin(this.module.exports, at)), read);
  }

  /** A call that gives an array. */
  protected floats(begin: (exports: TensorExports, at: number) => number): Call<Floats> {
    return this.call(begin, (number) => new Float32Array(this.module.values.take<Uint8Array<ArrayBuffer>>(number).buffer));
  }
}

/** Operations on arrays; what calls give is an array too, of one number for a single result. */
export abstract class RawArrays extends Raw {
  /** Addresses of the device and of the backend that do them; one is 0. */
  protected abstract where(at: number): readonly [device: number, backend: number];

  elementwise(steps: Float32Array, a: Float32Array, b?: Float32Array): Call<Floats> {
    const { module } = this;
    return this.floats((exports, at) =>
      exports.arrays_elementwise(...this.where(at), module.bytesOf(steps), module.bytesOf(a), b ? module.bytesOf(b) : 0),
    );
  }

  dot(a: Float32Array, b: Float32Array): Call<Floats> {
    const { module } = this;
    return this.floats((exports, at) => exports.arrays_dot(...this.where(at), module.bytesOf(a), module.bytesOf(b)));
  }

  softmax(log: boolean, a: Float32Array, cols: number): Call<Floats> {
    return this.floats((exports, at) => exports.arrays_softmax(...this.where(at), log ? 1 : 0, this.module.bytesOf(a), cols));
  }

  matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number): Call<Floats> {
    const { module } = this;
    return this.floats((exports, at) => exports.arrays_matmul(...this.where(at), module.bytesOf(a), module.bytesOf(b), m, k, n));
  }

  convolve2d(input: Float32Array, kernel: Float32Array, size: Uint32Array, kernelSize: Uint32Array): Call<Floats> {
    const { module } = this;
    return this.floats((exports, at) => {
      const given = [module.bytesOf(input), module.bytesOf(kernel)] as const;
      return exports.arrays_convolve2d(...this.where(at), ...given, module.bytesOf(size), module.bytesOf(kernelSize));
    });
  }

  reduce(reduction: number, a: Float32Array, dims: Uint32Array, axes: Uint32Array): Call<Floats> {
    const { module } = this;
    return this.floats((exports, at) => {
      const [given, shape] = [module.bytesOf(a), module.bytesOf(dims)];
      return exports.arrays_reduce(...this.where(at), reduction, given, shape, module.bytesOf(axes));
    });
  }
}
