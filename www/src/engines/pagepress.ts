// Pagepress, by its public calls.
import { createCompressor } from "pagepress";
import type { CompressorOptions, Level } from "pagepress";
import type { Engine } from "./engine";

/** The engine of `backend`; with `workers: 0` it has one thread. */
export async function openPagepress(
  options: Pick<CompressorOptions, "backend" | "allowSoftware" | "workers">,
  blockSize: number,
  level: Level,
): Promise<Engine> {
  const compressor = await createCompressor(options);
  let nWorkers = 0;
  return {
    // Large enough that workers are started and buffers are as large as they will be.
    warmUpBytes: Infinity,
    detail() {
      const { engine, adapter } = compressor.backend;
      if (engine === "webgpu") return adapter ?? "unnamed adapter";
      return nWorkers > 0 ? `WebAssembly, ${nWorkers} workers` : "WebAssembly, one thread";
    },
    async compress(bytes) {
      const packed = await compressor.compress(bytes, { blockSize, level });
      nWorkers = Math.max(nWorkers, compressor.lastTiming?.workers ?? 0);
      return packed;
    },
    decompress: (packed, length) => compressor.decompress(packed, { maxOutputSize: Math.max(length, 1) }),
    get backend() {
      return compressor.backend;
    },
    timing: () => compressor.lastTiming,
    close: () => compressor.dispose(),
  };
}
