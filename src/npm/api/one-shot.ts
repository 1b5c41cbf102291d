import type { BytesInput, CompressOptions, DecompressOptions } from "../base/types.js";
import type { Compressor } from "./compressor.js";
import { createCompressor } from "./create-compressor.js";

/** The compressor that all calls share. */
let shared: Promise<Compressor> | undefined;

/** Compresses `bytes` to an LZ4 frame, or to another `format`, on the engine that is measured to be fastest for its length.
 * The first call opens a compressor, which is kept. */
export async function compress(bytes: BytesInput, options?: CompressOptions): Promise<Uint8Array<ArrayBuffer>> {
  return (await sharedCompressor()).compress(bytes, options);
}

/** Decompresses all LZ4 frames in `bytes`, or bytes of another `format`, with the same compressor. */
export async function decompress(bytes: BytesInput, options?: DecompressOptions): Promise<Uint8Array<ArrayBuffer>> {
  return (await sharedCompressor()).decompress(bytes, options);
}

/** Returns the compressor that `compress` and `decompress` use. */
export function sharedCompressor(): Promise<Compressor> {
  shared ??= createCompressor().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}
