// The package with embedded WebAssembly, for bundlers that drop files and for single-file builds. Modules that not every
// page needs are separate chunks where the bundler splits code, and are decoded only on request.
import cpuWasm from "./wasm/cpu-wasm.js";
import { setSources } from "./modules/load.js";

setSources({
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
