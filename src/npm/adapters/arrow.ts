// LZ4 for apache-arrow: reads and writes IPC files and streams whose buffers are compressed with LZ4_FRAME.
import type { Bytes } from "../base/bytes.js";
import { cpuCalls, type WriterOptions } from "./calls.js";

export { PagepressError } from "../base/errors.js";
export type { ReaderOptions, WriterOptions } from "./calls.js";

/** A codec for the `compressionRegistry` of apache-arrow. */
export interface ArrowCodec {
  encode(bytes: Uint8Array): Bytes;
  decode(bytes: Uint8Array): Bytes;
}

/** Loads the CPU module, and returns the codec of `CompressionType.LZ4_FRAME`:
 * `compressionRegistry.set(CompressionType.LZ4_FRAME, await lz4Frame())`. */
export async function lz4Frame(options: WriterOptions = {}): Promise<ArrowCodec> {
  const calls = await cpuCalls(options, true);
  return {
    encode: (bytes) => calls.compress(bytes, "frame"),
    decode: (bytes) => calls.decompress(bytes, "frame"),
  };
}
