// lz4-wasm, as its documentation shows it: two functions. Its output is an LZ4 block after its length.
import { compress, decompress } from "lz4-wasm";
import { silent, type Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

export function openLz4Wasm(): Engine {
  return {
    ...silent,
    warmUpBytes: Infinity,
    detail: () => "WebAssembly, one thread",
    compress: async (bytes) => compress(bytes) as Bytes,
    decompress: async (packed) => decompress(packed) as Bytes,
  };
}
