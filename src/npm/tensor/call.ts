import type { ModuleSource } from "../base/types.js";
import { loadTensor, type TensorModule } from "../modules/load.js";
import * as glue from "../wasm/tensor.js";

let module: TensorModule | undefined;

/** Loads the tensor module, and returns its generated JavaScript. */
export async function loadTensors(source?: ModuleSource): Promise<TensorModule["glue"]> {
  module = await loadTensor(glue, source);
  return module.glue;
}

/** Returns the number of the module instance in use. It rejects objects of earlier instances. */
export const generation = (): number => module?.generation ?? 0;

/** Calls `work` synchronously, and returns its promise: arrays are read before this returns. */
export function settled<T>(work: () => Promise<T>): Promise<T> {
  return module ? module.call(work) : work();
}

/** Calls `work`, and returns its result. */
export function now<T>(work: () => T): T {
  return module ? module.run(work) : work();
}
