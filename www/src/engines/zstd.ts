// zstd as WebAssembly, through the documented functions of @bokuweb/zstd-wasm. Level 1 is its fastest.
import { compress, decompress, init } from "@bokuweb/zstd-wasm";
import { peerDefaults, type Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

export async function openZstd(): Promise<Engine> {
  await init();
  return {
    ...peerDefaults,
    warmUpBytes: Infinity,
    detail: () => "WebAssembly, zstd, level 1",
    compress: (bytes) => compress(bytes, 1) as Bytes,
    decompress: (packed) => decompress(packed) as Bytes,
  };
}
