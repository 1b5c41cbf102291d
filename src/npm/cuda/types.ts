import type { Bytes } from "../base/bytes.js";
import type { ModuleSource } from "../base/types.js";
import type { Grid } from "../tensor/types.js";

/** A language that kernels are translated to. */
export type CudaTarget = "wgsl" | "ptx" | "spirv" | "msl" | "hlsl";

/** Options of `listCudaKernels`. */
export interface CudaModuleOptions {
  /** Source of the module `pagepress/cuda.wasm`. Default: the file beside the package's JavaScript. */
  modules?: { cuda?: ModuleSource };
}

/** Options of `compileCuda`. */
export interface CudaOptions extends CudaModuleOptions {
  /** Name of the kernel, with the arguments of a template: `"sum<float, 256>"`. Default: the only kernel of the source. */
  entry?: string;
  /** Threads per block along x, y and z, at most 1024 in all. Default 256. */
  block?: Grid;
  /** Bytes of dynamic shared memory. Default 0. */
  sharedBytes?: number;
  /** Values of macros by name. */
  defines?: Readonly<Record<string, string | number>>;
  /** Treats `double` as `float`, which is refused otherwise. Default false. */
  narrowDoubles?: boolean;
}

/** Options of `translateCuda`. */
export interface TranslateCudaOptions extends CudaOptions {
  /** Default `"wgsl"`. */
  target?: CudaTarget;
  /** Warp functions become subgroup operations, for devices whose subgroups have 32 invocations. Default false: they go through
   * memory of the workgroup. */
  subgroups?: boolean;
  /** Allows `half` and `half2`, for devices with 16-bit floats (`GpuCapabilities.float16`). Default false. */
  float16?: boolean;
  /** Allows `long`, `long long` and their unsigned forms, for native devices with 64-bit integers. WebGPU has none. Default false: they
   * are refused. */
  int64?: boolean;
}

/** A parameter of a kernel: a buffer with its binding in group 0, or a value with its place in the uniform. */
export type CudaParameter =
  | { readonly name: string; readonly kind: "read" | "read-write"; readonly binding: number; readonly elementBytes: number }
  | { readonly name: string; readonly kind: "i32" | "u32" | "f32" | "i64" | "u64" | "struct"; readonly offset: number; readonly byteLength: number };

/** A kernel in another language. */
export interface TranslatedCuda {
  /** The kernel as text; empty for SPIR-V. */
  readonly text: string;
  /** The kernel in bytes: SPIR-V, or the text in UTF-8. */
  readonly bytes: Bytes;
  /** Name of the entry point. */
  readonly entry: string;
  /** Threads per block along x, y and z. */
  readonly block: readonly [number, number, number];
  /** The kernel's parameters in their order, then `__device__` and `__constant__` variables that the caller binds. */
  readonly parameters: readonly CudaParameter[];
  /** The uniform with the values; null if there are none. */
  readonly uniform: { readonly binding: number; readonly byteLength: number } | null;
  /** Remarks on the source as `line:column: text`: skipped host code, launches. */
  readonly notes: readonly string[];
}

/** A kernel of a source. */
export interface CudaKernelSignature {
  readonly name: string;
  /** Names of its template parameters. */
  readonly template: readonly string[];
  /** Line of its name, from 1. */
  readonly line: number;
}
