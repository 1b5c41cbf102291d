// Pagepress through its public API.
import { createCompressor } from "pagepress";
import type { CompressorOptions, Level } from "pagepress";
import type { Engine } from "./engine";

const threads = (nWorkers: number): string => (nWorkers > 0 ? `${nWorkers} workers` : "one thread");

/** Opens Pagepress with `options`; `workers: 0` uses one thread. */
export async function openPagepress(
  options: Pick<CompressorOptions, "backend" | "allowSoftware" | "workers">,
  blockSize: number,
  level: Level,
): Promise<Engine> {
  const compressor = await createCompressor(options);
  const workers = { compress: 0, decompress: 0 };
  const note = (way: keyof typeof workers): void => {
    workers[way] = Math.max(workers[way], compressor.lastTiming?.workers ?? 0);
  };
  return {
    compresses: true,
    // The whole input, so that workers are started and buffers have their final size.
    warmUpBytes: Infinity,
    detail() {
      const { engine, adapter } = compressor.backend;
      if (engine === "webgpu") return adapter ?? "unnamed adapter";
      const { compress, decompress } = workers;
      if (compress === decompress) return `WebAssembly, ${threads(compress)}`;
      return `WebAssembly, ${threads(compress)}; ${threads(decompress)} to decompress`;
    },
    async compress(bytes) {
      const packed = await compressor.compress(bytes, { blockSize, level });
      note("compress");
      return packed;
    },
    async decompress(packed, length) {
      const bytes = await compressor.decompress(packed, { maxOutputSize: Math.max(length, 1) });
      note("decompress");
      return bytes;
    },
    get backend() {
      return compressor.backend;
    },
    timing: () => compressor.lastTiming,
    close: () => compressor.dispose(),
  };
}
