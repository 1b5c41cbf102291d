import { toPagepressError } from "../base/errors.js";
import type { BytesInput, CompressOptions, DecompressOptions } from "../base/types.js";
import { open } from "../codec/open.js";
import { Compressor } from "./compressor.js";

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
  shared ??= open({}).then(
    (engine) => new Compressor(engine, "auto"),
    (error: unknown) => {
      shared = undefined;
      throw toPagepressError(error);
    },
  );
  return shared;
}
