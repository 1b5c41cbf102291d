import { type BlockOptions, type CpuModule, PageDecoder } from "../modules/cpu-module.js";
import type { Perform } from "./pool.js";

type Args<T extends (...args: never[]) => unknown> = Parameters<T>;

/** Makes a call that workers take, in a worker or in its place. */
export function perform(cpu: CpuModule, call: Parameters<Perform>[0], args: unknown[]): unknown {
  switch (call) {
    case "compressBlocks":
      return cpu.compressBlocks(...(args as Args<CpuModule["compressBlocks"]>));
    case "compressLent": {
      const [content, options] = args as [Uint8Array<ArrayBuffer>, BlockOptions];
      return cpu.compressBlocks(content, options, new Uint8Array(content.buffer));
    }
    case "decompressSync":
      return cpu.decompressSync(...(args as Args<CpuModule["decompressSync"]>));
    case "compressPages":
      return cpu.compressPages(...(args as Args<CpuModule["compressPages"]>));
    case "decompressPages": {
      const [packed, table, pageSize, byteLength] = args as [Uint8Array, Uint32Array, number, number];
      return decompressPages(cpu, packed, table, pageSize, byteLength);
    }
  }
}

/** The bytes of pages, and of each what is wrong with it. */
function decompressPages(cpu: CpuModule, packed: Uint8Array, table: Uint32Array, pageSize: number, byteLength: number): unknown {
  const pages = new PageDecoder(cpu, packed, table, pageSize, byteLength);
  try {
    const made = pages.advance(table.length / 2, false);
    return { bytes: made.subarray(0, byteLength), status: made.subarray(byteLength) };
  } finally {
    pages.free();
  }
}
