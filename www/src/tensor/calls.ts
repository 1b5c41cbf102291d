// What the page asks of the worker that has tensors. Times are in milliseconds.

/** What multiplies: the GPU, and for comparison plain JavaScript on one thread. */
export type Multiplier = "webgpu" | "javascript";

/** A product of two square matrices. */
export interface MatmulPoint {
  engine: Multiplier;
  /** Rows and columns of each. */
  size: number;
  /** Of one product; on the GPU with all three matrices in its memory. */
  milliseconds: number;
  gflops: number;
  /** The largest error of the elements that were computed again in 64 bits, relative to the largest of those. */
  error: number;
  checked: number;
}

export interface MatmulResult {
  points: MatmulPoint[];
  /** The GPU; null if there is none. */
  device: string | null;
  /** Why there is nothing of the GPU; null if there is. */
  withoutGpu: string | null;
  /** Engines that became too slow to go on, and where. */
  stopped: { engine: Multiplier; size: number }[];
}

/** A grey picture, rows from the top, elements from 0 to 1. */
export interface Picture {
  pixels: Float32Array<ArrayBuffer>;
  rows: number;
  cols: number;
}

export interface Convolved extends Picture {
  milliseconds: number;
  /** Where it ran: a device by its name, or the CPU and why. */
  where: string;
  isGpu: boolean;
  /** The largest error of some elements that were computed again, where that was asked for. */
  error: number | null;
}

type Call<A, R, P = never> = { argument: A; answer: R; progress: P };

/** The calls of the worker. */
export type TensorCalls = {
  matmul: Call<{ mostSize: number; allowSoftware: boolean }, MatmulResult, MatmulPoint>;
  convolve: Call<{ picture: Picture; kernel: Picture; allowSoftware: boolean; isChecked: boolean }, Convolved>;
};
