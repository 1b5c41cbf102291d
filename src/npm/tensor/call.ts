import type { ModuleSource } from "../base/types.js";
import { loadWith, type TensorModule } from "../modules/load.js";
import * as glue from "../wasm/tensor.js";

/** The tensor module. All callers of the functions below have awaited `loadTensors`. */
let module!: TensorModule;

/** Returns the URL of the module. */
function file(): URL {
  return new URL("./tensor_bg.wasm", import.meta.url);
}

/** Loads the tensor module, and returns its generated JavaScript. */
export async function loadTensors(source?: ModuleSource): Promise<TensorModule["glue"]> {
  module = await loadWith("tensor", glue, file, source);
  return module.glue;
}

/** Returns the number of the module instance in use. It rejects objects of earlier instances. */
export const generation = (): number => module.generation;

/** Calls `work` synchronously, and returns its promise: arrays are read before this returns. */
export const settled = <T>(work: () => Promise<T>): Promise<T> => module.call(work);

/** Calls `work`, and returns its result. */
export const now = <T>(work: () => T): T => module.run(work);
