import type { BlockOptions, CpuModule } from "../modules/cpu-module.js";
import type { DictionaryModule } from "../modules/dictionary-module.js";
import type { WorkerCall } from "./pool.js";

type Args<T extends (...args: never[]) => unknown> = Parameters<T>;

/** Runs a call of the pool, in a worker or in the calling thread. */
export function perform(cpu: CpuModule, call: WorkerCall, args: unknown[]): unknown {
  switch (call) {
    case "compressBlocks": {
      const [content, options] = args as [Uint8Array<ArrayBuffer>, BlockOptions];
      return cpu.compressBlocks(content, options, new Uint8Array(content.buffer));
    }
    case "decompressSync":
      return cpu.decompressSync(...(args as Args<CpuModule["decompressSync"]>));
    case "compressPages":
      return cpu.compressPages(...(args as Args<CpuModule["compressPages"]>));
    case "decompressPages":
      return decompressPages(cpu, ...(args as Args<CpuModule["pageDecoder"]>));
    case "train":
      // Only calls with a dictionary's module train.
      return (cpu as DictionaryModule).train(...(args as Args<DictionaryModule["train"]>));
  }
}

/** Decompresses pages, and returns their bytes and the status of each. */
function decompressPages(cpu: CpuModule, ...args: Args<CpuModule["pageDecoder"]>): unknown {
  const [, table, , byteLength] = args;
  const pages = cpu.pageDecoder(...args);
  try {
    const made = pages.advance(table.length / 2, false);
    return { bytes: made.subarray(0, byteLength), status: made.subarray(byteLength) };
  } finally {
    pages.free();
  }
}
