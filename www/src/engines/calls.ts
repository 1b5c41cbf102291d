// The calls of the worker of an engine. Times are in milliseconds, sizes in bytes.
import type { BackendInfo, Level, Timing } from "pagepress";
import type { Times } from "../measure/stats";

/** Pagepress on the GPU, on all cores and on one thread; and other packages. */
export type EngineId = "gpu" | "cpu" | "one" | "lz4-wasm" | "foxglove" | "fflate" | "zstd" | "gzip";

/** The conditions of a race, fixed when it starts. Those but `rounds` apply to Pagepress only. */
export interface RaceOptions {
  /** The number of rounds, in each of which every engine compresses and decompresses. */
  rounds: number;
  blockSize: number;
  level: Level;
  allowSoftware: boolean;
}

/** The times of start and warm-up. */
export interface Warm extends Times {
  /** Time to load and open the engine. */
  startMs: number;
  /** Bytes of the first compression and decompression. */
  bytes: number;
}

/** One measured round; the time to compress is null for engines that only decompress. */
export interface Run {
  compressMs: number | null;
  decompressMs: number;
}

/** The answer of a round. */
export interface Round {
  run: Run;
  outputBytes: number;
  /** True if decompression restored the input. */
  verified: boolean;
  /** The package's own timing; null for other packages. */
  timing: { compress: Timing; decompress: Timing } | null;
}

/** A description of the engine (adapter, workers, version) after its rounds. */
export interface Closed {
  detail: string;
  backend: BackendInfo | null;
}

/** The result of an engine in a race. */
export interface BenchResult extends Closed, Omit<Round, "run"> {
  inputBytes: number;
  warm: Warm;
  runs: Run[];
}

type Call<A, R> = { argument: A; answer: R; progress: never };

/** The calls of the worker: `open`, then rounds, then `close`. */
export type EngineCalls = {
  open: Call<{ engine: EngineId; options: RaceOptions; data: Blob }, Warm>;
  round: Call<{ data: Blob }, Round>;
  close: Call<null, Closed>;
};
