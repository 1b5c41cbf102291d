// What the worker of an engine is asked, and what it answers. Times are in milliseconds, sizes in bytes.
import type { BackendInfo, Level, Timing } from "pagepress";

/** Pagepress on the GPU, on all cores, on one, and on one with the bytes of a GPU; and the packages it is compared with. */
export type EngineId = "gpu" | "cpu" | "one" | "fast" | "lz4-wasm" | "fflate-1" | "fflate-6" | "gzip";

/** How to run an engine. The last three are for Pagepress alone. */
export interface BenchOrder {
  engine: EngineId;
  data: Blob;
  /** How often to compress and decompress, the warm-up not counted. */
  runs: number;
  /** No run is begun after so long; one always is. */
  budgetMs: number;
  blockSize: number;
  level: Level;
  allowSoftware: boolean;
}

/** What is known before the first measured run. */
export interface Warm {
  /** To load and open the engine. */
  startMs: number;
  /** The first compression and decompression, of `bytes`. */
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
  /** What ran, in words: adapter, workers, version. */
  detail: string;
  inputBytes: number;
  outputBytes: number;
  warm: Warm;
  runs: Run[];
  /** Whether the bytes came back as they were. */
  verified: boolean;
  /** Where the package says that time went; null for others. */
  timing: { compress: Timing; decompress: Timing } | null;
  backend: BackendInfo | null;
}

/** The calls of the worker. */
export type EngineCalls = {
  bench: { argument: BenchOrder; answer: BenchResult; progress: BenchProgress };
};
