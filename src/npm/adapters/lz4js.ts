// The functions of lz4js that take and return whole LZ4 frames.
import type { Bytes } from "../base/bytes.js";
import { loadedCalls } from "./calls.js";

export { PagepressError } from "../base/errors.js";
export { init } from "./calls.js";

/** Compresses to an LZ4 frame of at most `maxSize` bytes, after `await init()`. */
export function compress(bytes: Uint8Array, maxSize?: number): Bytes {
  return loadedCalls(maxSize).compress(bytes, "frame");
}

/** Decompresses an LZ4 frame to at most `maxSize` bytes, after `await init()`. */
export function decompress(bytes: Uint8Array, maxSize?: number): Bytes {
  return loadedCalls(maxSize).decompress(bytes, "frame");
}
