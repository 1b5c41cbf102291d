import type { ModuleSource } from "../base/types.js";
import { load, type TensorModule } from "../modules/load.js";

let module: TensorModule | undefined;

/** The module, ready for use. */
export async function loadTensors(source?: ModuleSource): Promise<TensorModule["glue"]> {
  module = await load("tensor", source);
  return module.glue;
}

/** The number of the instance in use. Objects of an earlier one are refused. */
export const generation = (): number => module?.generation ?? 0;

/** What `work` in the module promises. It starts before this returns: arrays are read then. */
export function settled<T>(work: () => Promise<T>): Promise<T> {
  return module ? module.call(work) : work();
}

/** What `work` in the module gives at once. */
export function now<T>(work: () => T): T {
  return module ? module.run(work) : work();
}
