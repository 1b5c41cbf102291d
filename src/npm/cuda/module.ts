import type { ModuleSource } from "../base/types.js";
import { loadWith, type ModuleWith } from "../modules/load.js";
import * as glue from "../wasm/cuda.js";

/** The module that translates kernels. */
export type CudaModule = ModuleWith<typeof glue>;

/** Returns the URL of the module. */
function file(): URL {
  return new URL("./cuda_bg.wasm", import.meta.url);
}

/** Loads the module. */
export function loadCuda(source?: ModuleSource): Promise<CudaModule> {
  return loadWith("cuda", glue, file, source);
}
