// The calls of the worker that translates kernels in CUDA C and runs the examples.
import type { CudaTarget } from "pagepress/cuda";
import type { ExampleName } from "./examples";

/** The languages that are shown: those of text. */
export type ShownTarget = Exclude<CudaTarget, "spirv">;

/** A translated kernel. */
export interface Translation {
  text: string;
  /** Remarks on the source as `line:column: text`. */
  notes: readonly string[];
  milliseconds: number;
}

/** A picture of a result, in RGBA. */
export interface Picture {
  width: number;
  height: number;
  pixels: Uint8ClampedArray<ArrayBuffer>;
}

/** An example that ran on the GPU. */
export interface CudaRun {
  /** Name of the adapter. */
  device: string;
  isSoftware: boolean;
  /** Mean time of a run: the launches and the wait for them. */
  milliseconds: number;
  launches: number;
  /** Elements compared with the result of JavaScript, and those that differ. */
  checked: number;
  different: number;
  /** True if no more elements differ than the rounding of the kernel explains. */
  isRight: boolean;
  picture: Picture | null;
}

/** The source in the editor, and the example that it was. */
interface Source {
  source: string;
  example: ExampleName;
}

/** The calls of the worker. */
export type CudaCalls = {
  /** Rejects with `KERNEL_COMPILE` and `line:column: message`. The first call loads the translator. */
  translate: { argument: Source & { target: ShownTarget }; answer: Translation; progress: never };
  /** Rejects with `BACKEND_UNAVAILABLE` and the reason without a GPU. */
  run: { argument: Source & { allowSoftware: boolean }; answer: CudaRun; progress: never };
};
