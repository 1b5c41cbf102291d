// The package with its WebAssembly inside, for bundlers that drop files and for single-file builds. What not every page
// needs is a part of its own where the bundler splits code, and is decoded only when it is asked for.
import cpuWasm from "./wasm/cpu-wasm.js";
import { embed } from "./modules/load.js";

embed({
  cpu: async () => decode(cpuWasm),
  gpu: async () => decode((await import("./wasm/gpu-wasm.js")).default),
  seek: async () => decode((await import("./wasm/seek-wasm.js")).default),
});

export * from "./index.js";

function decode(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < bytes.length; i += 1) bytes[i] = text.charCodeAt(i);
  return bytes;
}
