import type { Call } from "../codec.js";
import type { Device, DeviceBuffer } from "../types.js";
import type { BackendUsed, GpuCapabilities, GpuDeviceInfo } from "./types.js";

export type Floats = Float32Array<ArrayBuffer>;

/** Operations on arrays; what calls give is an array too, of one number for a single result. Steps are names with spaces
 * between, and two numbers for each. */
export interface RawArrays {
  elementwise(names: string, numbers: Float32Array, a: Float32Array, b?: Float32Array): Call<Floats>;
  dot(a: Float32Array, b: Float32Array): Call<Floats>;
  softmax(log: boolean, a: Float32Array, cols: number): Call<Floats>;
  matmul(a: Float32Array, b: Float32Array, m: number, k: number, n: number): Call<Floats>;
  convolve2d(input: Float32Array, kernel: Float32Array, size: Uint32Array, kernelSize: Uint32Array): Call<Floats>;
  reduce(reduction: string, a: Float32Array, dims: Uint32Array, axes: Uint32Array): Call<Floats>;
}

export interface RawDevice extends RawArrays {
  info(): GpuDeviceInfo;
  capabilities(): GpuCapabilities;
  raw(): Device | null;
  destroy(): void;
  synchronize(): Call<null>;
  upload(values: Float32Array, dims: Uint32Array): Call<RawTensor>;
  empty(dims: Uint32Array): RawTensor;
  compileKernel(wgsl: string, entry: string, bindings: string, overrides: string, values: Float64Array): Call<RawKernel>;
  launch(kernel: RawKernel, x: number, y: number, z: number, args: RawArguments): void;
  free(): void;
}

export interface RawTensor {
  shape(): Uint32Array;
  strides(): Uint32Array;
  offset(): number;
  buffer(): DeviceBuffer | null;
  slice(axis: number, start: number, end: number): RawTensor;
  transpose(first: number, second: number): RawTensor;
  permute(axes: Uint32Array): RawTensor;
  reshape(dims: Uint32Array): RawTensor;
  broadcastTo(dims: Uint32Array): RawTensor;
  read(): Call<Floats>;
  apply(names: string, numbers: Float32Array): Call<RawTensor>;
  combine(names: string, numbers: Float32Array, other: RawTensor): Call<RawTensor>;
  contiguous(): Call<RawTensor>;
  reduce(reduction: string, axes: Uint32Array): Call<RawTensor>;
  reduceAll(reduction: string): Call<RawTensor>;
  dot(other: RawTensor): Call<RawTensor>;
  softmax(log: boolean): Call<RawTensor>;
  matmul(other: RawTensor): Call<RawTensor>;
  convolve2d(kernel: RawTensor): Call<RawTensor>;
  free(): void;
}

export interface RawKernel {
  free(): void;
}

export interface RawArguments {
  tensor(tensor: RawTensor): void;
  params(words: Uint32Array): void;
  free(): void;
}

export interface RawBackend extends RawArrays {
  lastBackend(): BackendUsed | undefined;
  free(): void;
}

export interface RawBufferId {
  free(): void;
}

export interface RawBatch {
  upload(values: Float32Array): RawBufferId;
  tensor(tensor: RawTensor): RawBufferId;
  apply(names: string, numbers: Float32Array, a: RawBufferId): RawBufferId;
  combine(names: string, numbers: Float32Array, a: RawBufferId, b: RawBufferId): RawBufferId;
  dot(a: RawBufferId, b: RawBufferId): RawBufferId;
  matmul(a: RawBufferId, b: RawBufferId, m: number, k: number, n: number): RawBufferId;
  convolve2d(
    input: RawBufferId,
    kernel: RawBufferId,
    rows: number,
    cols: number,
    kernelRows: number,
    kernelCols: number,
  ): RawBufferId;
  reduce(reduction: string, a: RawBufferId): RawBufferId;
  softmax(log: boolean, a: RawBufferId): RawBufferId;
  execute(): Call<number | null>;
  read(id: RawBufferId): Call<Floats>;
  result(id: RawBufferId): Call<RawTensor>;
  free(): void;
}

/** The module of tensors. */
export interface RawModule {
  Arguments: { none(): RawArguments };
  Backend: { lazy(): RawBackend; withDevice(device: RawDevice): RawBackend };
  Batch: { of(device: RawDevice): RawBatch };
  Device: { open(powerPreference: string, allowSoftware: boolean): Call<RawDevice> };
}
