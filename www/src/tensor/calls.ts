// The calls of the worker for tensors. Times are in milliseconds.

/** The engines of matrix products: the GPU, and plain JavaScript on one thread for comparison. */
export type Multiplier = "webgpu" | "javascript";

/** A measured product of two square matrices. */
export interface MatmulPoint {
  engine: Multiplier;
  /** Rows and columns of each. */
  size: number;
  /** Time of one product; on the GPU with all three matrices in GPU memory. */
  milliseconds: number;
  gflops: number;
  /** The largest error of the elements checked in 64 bits, relative to the largest of them. */
  error: number;
  checked: number;
}

export interface MatmulResult {
  points: MatmulPoint[];
  /** Name of the GPU; null if there is none. */
  device: string | null;
  /** The reason why there are no results of a GPU; null if there are. */
  withoutGpu: string | null;
  /** Engines that were too slow for larger sizes, with the last size measured. */
  stopped: { engine: Multiplier; size: number }[];
}

/** A greyscale image, row by row from the top, with values from 0 to 1. */
export interface Picture {
  pixels: Float32Array<ArrayBuffer>;
  rows: number;
  cols: number;
}

export interface Convolved extends Picture {
  milliseconds: number;
  /** The name of the GPU, or the CPU and the reason for it. */
  where: string;
  isGpu: boolean;
  /** The largest error of the checked elements; null if none were checked. */
  error: number | null;
}

type Call<A, R, P = never> = { argument: A; answer: R; progress: P };

/** The calls of the worker. */
export type TensorCalls = {
  matmul: Call<{ mostSize: number; allowSoftware: boolean }, MatmulResult, MatmulPoint>;
  convolve: Call<{ picture: Picture; kernel: Picture; allowSoftware: boolean; isChecked: boolean }, Convolved>;
};
