import type { BytesInput, CompressOptions, DecompressOptions } from "../base/types.js";
import type { Compressor } from "./compressor.js";
import { createCompressor } from "./create-compressor.js";

/** The compressor of all calls here. */
let shared: Promise<Compressor> | undefined;

/** Compresses `bytes` to an LZ4 frame on the engine that is measured to be fastest for its length; opens it at the first call
 * and keeps it. */
export async function compress(bytes: BytesInput, options?: CompressOptions): Promise<Uint8Array<ArrayBuffer>> {
  return (await opened()).compress(bytes, options);
}

/** Decompresses all LZ4 frames in `bytes`, or the block that `format` says they are, likewise. */
export async function decompress(bytes: BytesInput, options?: DecompressOptions): Promise<Uint8Array<ArrayBuffer>> {
  return (await opened()).decompress(bytes, options);
}

function opened(): Promise<Compressor> {
  shared ??= createCompressor().catch((error: unknown) => {
    shared = undefined;
    throw error;
  });
  return shared;
}
