// LZ4 for @mcap/core: reads and writes MCAP files whose chunks are compressed with `lz4`.
import type { Bytes } from "../base/bytes.js";
import { cpuCalls, type ReaderOptions, type WriterOptions } from "./calls.js";

export { PagepressError } from "../base/errors.js";
export type { ReaderOptions, WriterOptions } from "./calls.js";

/** Option `decompressHandlers` of `McapIndexedReader.Initialize` and `McapStreamReader`. */
export interface McapDecompressHandlers {
  lz4(bytes: Uint8Array, decompressedSize: bigint): Bytes;
  /** Other compressions of the caller. */
  [compression: string]: (bytes: Uint8Array, decompressedSize: bigint) => Uint8Array;
}

/** Option `compressChunk` of `McapWriter`. */
export type McapCompressChunk = (bytes: Uint8Array) => { compression: string; compressedData: Bytes };

/** Loads the CPU module, and returns the handlers of readers:
 * `new McapStreamReader({ decompressHandlers: await decompressHandlers() })`. */
export async function decompressHandlers(options: ReaderOptions = {}): Promise<McapDecompressHandlers> {
  const calls = await cpuCalls(options, false);
  return { lz4: (bytes, decompressedSize) => calls.decompressSized(bytes, "frame", Number(decompressedSize)) };
}

/** Loads the CPU module, and returns the function with which a writer compresses chunks:
 * `new McapWriter({ writable, compressChunk: await compressChunk() })`. */
export async function compressChunk(options: WriterOptions = {}): Promise<McapCompressChunk> {
  const calls = await cpuCalls(options, true);
  return (bytes) => ({ compression: "lz4", compressedData: calls.compress(bytes, "frame") });
}
