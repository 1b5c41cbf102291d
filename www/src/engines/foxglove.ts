// @foxglove/wasm-lz4, which only decompresses. Its input is a frame of Pagepress without a checksum, and it is given the
// size of the content, as its documentation asks.
import { compressSync, init } from "pagepress";
import { peerDefaults, type Engine } from "./engine";

type Bytes = Uint8Array<ArrayBuffer>;

/** The two functions of Node's `Buffer` that the package calls. */
const buffer = {
  allocUnsafe: (length: number): Uint8Array => new Uint8Array(length),
  from: (memory: ArrayBuffer) => ({
    copy: (to: Uint8Array, at: number, start: number, end: number): void => to.set(new Uint8Array(memory, start, end - start), at),
  }),
};

export async function openFoxglove(): Promise<Engine> {
  Object.assign(globalThis, { Buffer: buffer });
  const { default: decompress } = await import("@foxglove/wasm-lz4");
  await Promise.all([decompress.isLoaded, init()]);
  return {
    ...peerDefaults,
    compresses: false,
    warmUpBytes: Infinity,
    detail: () => "WebAssembly, only decompresses",
    compress: (bytes) => compressSync(bytes, { contentChecksum: false }) as Bytes,
    decompress: (packed, length) => decompress(packed, length) as unknown as Bytes,
  };
}
