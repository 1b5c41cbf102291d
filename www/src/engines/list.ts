// The engines of the benchmark, in the order in which they are shown and run.
import type { EngineId } from "./calls";

export interface EngineEntry {
  id: EngineId;
  name: string;
  /** Determines the colour of the bars. */
  family: "gpu" | "cpu" | "peer";
}

export const engines: EngineEntry[] = [
  { id: "gpu", name: "Pagepress, GPU", family: "gpu" },
  { id: "cpu", name: "Pagepress, CPU", family: "cpu" },
  { id: "one", name: "Pagepress, one thread", family: "cpu" },
  { id: "fast", name: "Pagepress, one thread, fast", family: "cpu" },
  { id: "lz4-wasm", name: "lz4-wasm", family: "peer" },
  { id: "fflate-1", name: "fflate, fastest", family: "peer" },
  { id: "fflate-6", name: "fflate, default", family: "peer" },
  { id: "gzip", name: "The browser’s gzip", family: "peer" },
];
