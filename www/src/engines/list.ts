// The engines of the race, in the order in which they are shown.
import type { EngineId } from "./calls";

export interface EngineEntry {
  id: EngineId;
  name: string;
  /** Determines the colour of the bars. */
  family: "gpu" | "cpu" | "peer";
  /** True for packages of others that read and write LZ4. */
  isLz4Peer?: boolean;
}

export const engines: EngineEntry[] = [
  { id: "gpu", name: "Pagepress, GPU", family: "gpu" },
  { id: "cpu", name: "Pagepress, CPU workers", family: "cpu" },
  { id: "one", name: "Pagepress, one thread", family: "cpu" },
  { id: "lz4-wasm", name: "lz4-wasm", family: "peer", isLz4Peer: true },
  { id: "foxglove", name: "@foxglove/wasm-lz4", family: "peer", isLz4Peer: true },
  { id: "fflate", name: "fflate", family: "peer" },
  { id: "zstd", name: "zstd (WebAssembly)", family: "peer" },
  { id: "gzip", name: "CompressionStream", family: "peer" },
];
