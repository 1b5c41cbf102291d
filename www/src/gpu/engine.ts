// The interface of the engines for tensors.
import type { Operation } from "./calls";

export type Floats = Float32Array<ArrayBuffer>;

/** Work on matrices that are already where the engine needs them. */
export interface Prepared {
  /** Runs the work once and waits for it. */
  run(): Promise<void>;
  /** Returns the elements of the last result. */
  read(): Promise<Floats>;
  dispose(): void;
}

export interface TensorEngineRunner {
  name: string;
  product(a: Floats, b: Floats, size: number): Promise<Prepared>;
  operate(operation: Operation, a: Floats, rows: number, cols: number): Promise<Prepared>;
}
