// lz4-wasm through its two documented functions. Its output is the content size and one LZ4 block.
import { compress, decompress } from "lz4-wasm";
import { peerDefaults, type Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

export function openLz4Wasm(): Engine {
  return {
    ...peerDefaults,
    warmUpBytes: Infinity,
    detail: () => "WebAssembly, one thread",
    compress: (bytes) => compress(bytes) as Bytes,
    decompress: (packed) => decompress(packed) as Bytes,
  };
}
