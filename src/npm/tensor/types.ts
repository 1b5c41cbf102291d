import type { Device, ModuleSource } from "../base/types.js";
import type { GpuDevice } from "./device.js";

/** Elements that an operation gave. */
export type Floats = Float32Array<ArrayBuffer>;

/** Lengths of the axes, outermost first; at most 8. No axes: one element. */
export type Shape = readonly number[];

/** Rows and columns. */
export type Size2d = readonly [rows: number, cols: number];

/** A step on an element; NaN gives NaN. The steps of the last line take the element of a second tensor too. */
export type Step =
  | "relu" | "sigmoid" | "tanh" | "swish" | "gelu" | "geluTanh"
  | "exp" | "log" | "sqrt" | "abs" | "reciprocal"
  | readonly ["leakyRelu" | "elu" | "scale" | "offset", number]
  | readonly ["clip", min: number, max: number]
  | "add" | "sub" | "mul" | "div" | "max" | "min";

/** A reduction of elements. Without elements: 0, and -∞ and +∞ for the largest and the smallest. */
export type Reduction = "sum" | "max" | "min" | "sumOfSquares";

/** Packing of weights: K-quants of ggml, as in GGUF files, or numbers of 16 bits. */
export type Quantization = "q4k" | "q5k" | "q6k" | "f16";

/** Factors and summands of a normalised row: an element for each column. */
export interface NormOptions<T> {
  weight?: T;
  bias?: T;
  /** Keeps the root from 0. Default 1e-5. */
  epsilon?: number;
}

export interface AttentionOptions {
  /** If true, the last query sees all keys, and each query before it one less. Default false. */
  causal?: boolean;
  /** Factor of the products. Default 1 / √elements of a head. */
  scale?: number;
}

/** Source of `pagepress/tensor.wasm`. */
export interface TensorModules {
  tensor?: ModuleSource;
}

export interface GpuDeviceOptions {
  /** A `GPUDevice` of the page's own, to share buffers with. It stays the page's, and `dispose` leaves it open. */
  device?: Device;
  /** Speed (default) or battery, where there are several GPUs. */
  powerPreference?: "high-performance" | "low-power";
  /** Allows a software adapter. Default false. */
  allowSoftware?: boolean;
  /** Source of the WebAssembly, if not beside the package's JavaScript. The first one used decides for all. */
  modules?: TensorModules;
}

/** A device, as it describes itself. */
export interface GpuDeviceInfo {
  readonly name: string;
  readonly vendor: string;
  readonly engine: "webgpu";
  /** True for a software adapter. */
  readonly software: boolean;
}

/** Limits and features for kernels. */
export interface GpuCapabilities {
  /** Largest range that an argument may cover. */
  readonly maxBindingBytes: number;
  readonly maxBufferBytes: number;
  /** Workgroup memory of one workgroup. */
  readonly maxWorkgroupBytes: number;
  readonly maxWorkgroupInvocations: number;
  /** Workgroups in each dimension of a grid. */
  readonly maxGrid: number;
  /** Storage buffers of one kernel. */
  readonly maxStorageBuffers: number;
  /** True if the device times launches. */
  readonly timestamps: boolean;
}

/** Use of a binding of group 0: storage that the kernel reads, storage that it may write, or parameters. */
export type KernelAccess = "read" | "read-write" | "uniform";

export interface KernelOptions {
  /** The `@compute` function. Default `"main"`. */
  entry?: string;
  /** The bindings of group 0, in order. */
  bindings: readonly KernelAccess[];
  /** Values of `override` constants. */
  overrides?: Readonly<Record<string, number>>;
}

/** Workgroups: in x alone, or in up to three dimensions. */
export type Grid = number | readonly [x: number, y?: number, z?: number];

export interface GpuBackendOptions {
  /** Runs everything on this device, and fails if it does. Without one, a hardware GPU is opened when it first pays. */
  device?: GpuDevice;
  modules?: TensorModules;
}

/** The place where an operation ran: this device, or the CPU for this reason. */
export type BackendUsed =
  | { readonly engine: "webgpu"; readonly device: string; readonly reason: null }
  | { readonly engine: "cpu"; readonly device: null; readonly reason: string };
