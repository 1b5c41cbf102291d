import { compileSource } from "./compile-source.js";
import type { TensorEngine } from "./tensor/engine.js";
import type { ModuleSource } from "./types.js";

/** The WebAssembly of tensors, which bundlers find by this very line. */
const file = (): ModuleSource => new URL("./tensor_bg.wasm", import.meta.url);

let loading: Promise<TensorEngine> | undefined;

/** The module, ready for use. It is fetched and compiled once, and again only if that failed. */
export function loadTensors(source?: ModuleSource): Promise<TensorEngine> {
  loading ??= start(source).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start(source: ModuleSource | undefined): Promise<TensorEngine> {
  const [engine, module] = await Promise.all([import("./tensor/engine.js"), compileSource(await (source ?? file()))]);
  return engine.start(module);
}
