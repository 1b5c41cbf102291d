// The calls of the workers for tensors: one with the GPU, and one without, which runs the package's CPU path. Times are in
// milliseconds.

/** The engines of the comparison. */
export type TensorEngine = "webgpu" | "cpu" | "tfjs";

/** The operations on a matrix of rows and columns. */
export const OPERATIONS = ["sum", "softmax", "layer norm", "gelu"] as const;
export type Operation = (typeof OPERATIONS)[number];

/** A round of a product of two square matrices, or of an operation. */
export interface TensorRound {
  /** Time of one call; on a GPU with all matrices in its memory. */
  milliseconds: number;
  /** The largest error of the sampled elements, re-checked in float64, relative to the largest of them. */
  error: number;
  checked: number;
}

type Call<A, R> = { argument: A; answer: R; progress: never };

/** The calls of a worker. */
export type TensorCalls = {
  /** Opens the engine and returns its name. Rejects with the reason if it is not available. */
  open: Call<{ engine: TensorEngine; allowSoftware: boolean }, string>;
  product: Call<{ size: number }, TensorRound>;
  operate: Call<{ operation: Operation; rows: number; cols: number }, TensorRound>;
};
