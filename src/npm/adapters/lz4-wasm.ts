// The functions of lz4-wasm: an LZ4 block with the size of its content before it.
import type { Bytes } from "../base/bytes.js";
import { loadedCalls } from "./calls.js";

export { PagepressError } from "../base/errors.js";
export { init } from "./calls.js";

/** Compresses to a block with the size of its content before it, after `await init()`. */
export function compress(bytes: Uint8Array): Bytes {
  return loadedCalls(undefined).compress(bytes, "size-prefixed");
}

/** Decompresses a block with the size of its content before it, after `await init()`. */
export function decompress(bytes: Uint8Array): Bytes {
  return loadedCalls(undefined).decompress(bytes, "size-prefixed");
}
