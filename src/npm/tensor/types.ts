import type { Device, ModuleSource } from "../base/types.js";

/** Elements of a result. */
export type Floats = Float32Array<ArrayBuffer>;

/** Type of the elements of a tensor: 32-bit floats, 16-bit floats (IEEE binary16), or 16-bit floats with the exponent of
 * 32-bit floats. */
export type DType = "float32" | HalfType;

/** Types of 16 bits. */
export type HalfType = "float16" | "bfloat16";

/** Elements of 16 bits: a `Float16Array`, where the engine has it, for `float16`; or their bits. */
export type Halves = Uint16Array | (ArrayBufferView & { readonly length: number; readonly [Symbol.toStringTag]: "Float16Array" });

/** Lengths of the axes, outermost first; at most 8 axes. A shape without axes has one element. */
export type Shape = readonly number[];

/** Numbers of rows and columns. */
export type Size2d = readonly [rows: number, cols: number];

/** An element-wise operation; NaN results in NaN. The steps of the last line are binary: they also use the element of a
 * second tensor. */
export type Step =
  | "relu" | "sigmoid" | "tanh" | "swish" | "gelu" | "geluTanh"
  | "exp" | "log" | "log1p" | "sqrt" | "abs" | "reciprocal"
  | readonly ["leakyRelu" | "elu" | "scale" | "offset", number]
  | readonly ["clip", min: number, max: number]
  | "add" | "sub" | "mul" | "div" | "max" | "min";

/** A reduction of elements. Without elements, sums are 0, `max` is -∞ and `min` is +∞. */
export type Reduction = "sum" | "max" | "min" | "sumOfSquares";

/** Format of packed weights: K-quants of ggml, as in GGUF files, or 16-bit floats. */
export type Quantization = "q4k" | "q5k" | "q6k" | "q8_0" | "f16";

/** A function of the elements of a matrix product; NaN results in NaN. */
export type Activation = "relu" | "sigmoid" | "tanh" | "swish" | "gelu" | "geluTanh";

/** Epilogue of a matrix product, which replaces its elements before they are stored: activation(product + bias) + residual. */
export interface MatmulOptions<T> {
  /** Added to each column: one element per column. */
  bias?: T;
  /** Applied after the bias. */
  activation?: Activation;
  /** Added last: elements in the shape of the product. */
  residual?: T;
}

/** Weight and bias of a normalisation: one element per column. */
export interface NormOptions<T> {
  weight?: T;
  bias?: T;
  /** Added under the square root, to avoid division by zero. Default 1e-5. */
  epsilon?: number;
}

export interface AttentionOptions {
  /** If true, the last query attends to all keys, and each earlier query to one key less. Default false. */
  causal?: boolean;
  /** Number of keys that a query attends to at most: the last one that it sees, and those before it. At least 1, and only with
   * `causal`. Default: all. */
  window?: number;
  /** Factor of the products of queries and keys. Default: 1 / √(elements of a head). */
  scale?: number;
}

/** Source of `pagepress/tensor.wasm`. */
export interface TensorModules {
  tensor?: ModuleSource;
}

export interface GpuDeviceOptions {
  /** A `GPUDevice` of the page, to share buffers with it. The page keeps ownership: `dispose` does not destroy it. */
  device?: Device;
  /** Preference among several GPUs: speed (default) or low energy consumption. */
  powerPreference?: "high-performance" | "low-power";
  /** Allows a software adapter. Default false. */
  allowSoftware?: boolean;
  /** Source of the WebAssembly module. Default: the file beside the package's JavaScript. The first source that is used
   * applies to all. */
  modules?: TensorModules;
}

/** Description of a device. */
export interface GpuDeviceInfo {
  readonly name: string;
  readonly vendor: string;
  readonly engine: "webgpu";
  /** True for a software adapter. */
  readonly software: boolean;
}

/** Limits and features for kernels. */
export interface GpuCapabilities {
  /** Maximum bytes of the range of an argument. */
  readonly maxBindingBytes: number;
  readonly maxBufferBytes: number;
  /** Maximum bytes of workgroup memory of a workgroup. */
  readonly maxWorkgroupBytes: number;
  readonly maxWorkgroupInvocations: number;
  /** Maximum number of workgroups in each dimension of a grid. */
  readonly maxGrid: number;
  /** Maximum number of storage buffers of a kernel. */
  readonly maxStorageBuffers: number;
  /** True if the device can time launches. */
  readonly timestamps: boolean;
  /** True if kernels may use 16-bit floats (`enable f16;`). A device of the page has them if it was opened with `shader-f16`. */
  readonly float16: boolean;
}

/** Access to a binding of group 0: read-only storage, read-write storage, or uniform parameters. */
export type KernelAccess = "read" | "read-write" | "uniform";

export interface KernelOptions {
  /** Name of the `@compute` function. Default `"main"`. */
  entry?: string;
  /** Access to the bindings of group 0, in order. */
  bindings: readonly KernelAccess[];
  /** Values of `override` constants. */
  overrides?: Readonly<Record<string, number>>;
}

/** Number of workgroups: in x only, or in up to three dimensions. */
export type Grid = number | readonly [x: number, y?: number, z?: number];

/** The engine of an operation: a device, or the CPU with the reason for it. */
export type BackendUsed =
  | { readonly engine: "webgpu"; readonly device: string; readonly reason: null }
  | { readonly engine: "cpu"; readonly device: null; readonly reason: string };
