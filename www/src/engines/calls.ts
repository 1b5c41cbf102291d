// The calls of the worker of an engine. Times are in milliseconds, sizes in bytes.
import type { BackendInfo, Level, Timing } from "pagepress";

/** Pagepress on the GPU, on all cores, on one thread, and on one thread at level Fast; and the other packages. */
export type EngineId = "gpu" | "cpu" | "one" | "fast" | "lz4-wasm" | "fflate-1" | "fflate-6" | "gzip";

/** The parameters of a benchmark. The last three apply to Pagepress only. */
export interface BenchOrder {
  engine: EngineId;
  data: Blob;
  /** The number of runs after the warm-up. */
  runs: number;
  /** No run but the first starts after this time. */
  budgetMs: number;
  blockSize: number;
  level: Level;
  allowSoftware: boolean;
}

/** The times of start and warm-up. */
export interface Warm {
  /** Time to load and open the engine. */
  startMs: number;
  /** The first compression and decompression, of `bytes` bytes. */
  compressMs: number;
  decompressMs: number;
  bytes: number;
}

/** One measured run. */
export interface Run {
  compressMs: number;
  decompressMs: number;
}

export type BenchProgress = { phase: "opening" } | { phase: "warming" } | { phase: "warm"; warm: Warm } | { phase: "run"; run: Run };

export interface BenchResult {
  /** A description of the engine: adapter, workers, version. */
  detail: string;
  inputBytes: number;
  outputBytes: number;
  warm: Warm;
  runs: Run[];
  /** True if decompression restored the input. */
  verified: boolean;
  /** The package's own timing; null for other packages. */
  timing: { compress: Timing; decompress: Timing } | null;
  backend: BackendInfo | null;
}

/** The calls of the worker. */
export type EngineCalls = {
  bench: { argument: BenchOrder; answer: BenchResult; progress: BenchProgress };
};
