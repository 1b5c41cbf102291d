import type { Device, ModuleSource } from "../base/types.js";
import type { GpuDevice } from "./device.js";

/** Elements that an operation gave. */
export type Floats = Float32Array<ArrayBuffer>;

/** Lengths of the axes, outermost first; at most 8. No axes: one element. */
export type Shape = readonly number[];

/** Rows and columns. */
export type Size2d = readonly [rows: number, cols: number];

/** What happens to an element; NaN gives NaN. Those of the last line take the element of a second tensor too. */
export type Step =
  | "relu" | "sigmoid" | "tanh" | "swish" | "gelu" | "geluTanh"
  | "exp" | "log" | "sqrt" | "abs" | "reciprocal"
  | readonly ["leakyRelu" | "elu" | "scale" | "offset", number]
  | readonly ["clip", min: number, max: number]
  | "add" | "sub" | "mul" | "div" | "max" | "min";

/** What elements are reduced to. Of none: 0, and -∞ and +∞ for the largest and the smallest. */
export type Reduction = "sum" | "max" | "min" | "sumOfSquares";

/** How weights are packed: K-quants of ggml, as GGUF files have them, or numbers of 16 bits. */
export type Quantization = "q4k" | "q5k" | "q6k" | "f16";

/** What a row is multiplied by and what is added once it is normalised: an element for each column. */
export interface NormOptions<T> {
  weight?: T;
  bias?: T;
  /** Keeps the root from 0. Default 1e-5. */
  epsilon?: number;
}

export interface AttentionOptions {
  /** Whether the last query sees all keys, each query before it one less. Default false. */
  causal?: boolean;
  /** What products are multiplied by. Default 1 / √elements of a head. */
  scale?: number;
}

/** Where `pagepress/tensor.wasm` is. */
export interface TensorModules {
  tensor?: ModuleSource;
}

export interface GpuDeviceOptions {
  /** A `GPUDevice` of the page's own, to share buffers with. It stays the page's, and `dispose` leaves it open. */
  device?: Device;
  /** Speed (default) or battery, where there are several GPUs. */
  powerPreference?: "high-performance" | "low-power";
  /** Whether an adapter that is software will do. Default false. */
  allowSoftware?: boolean;
  /** Where the WebAssembly is, if not beside the package's JavaScript. The first one used decides for all. */
  modules?: TensorModules;
}

/** A device, as it describes itself. */
export interface GpuDeviceInfo {
  readonly name: string;
  readonly vendor: string;
  readonly engine: "webgpu";
  /** Whether a CPU does the work. */
  readonly software: boolean;
}

/** What kernels may use. */
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
  /** Whether the device times launches. */
  readonly timestamps: boolean;
}

/** How a kernel uses a binding of group 0: storage that it reads, storage that it may write, or parameters. */
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

/** Where an operation ran: on this device, or on the CPU for this reason. */
export type BackendUsed =
  | { readonly engine: "webgpu"; readonly device: string; readonly reason: null }
  | { readonly engine: "cpu"; readonly device: null; readonly reason: string };
