import { compileSource } from "./compile-source.js";
import { begin } from "./tensor/call.js";
import type { ModuleSource } from "./types.js";

/** The classes that wasm-bindgen made of `src/web/tensor`. */
export type TensorModule = typeof import("./wasm/tensor.js");

/** The WebAssembly of tensors, which bundlers find by this very line. */
const file = (): ModuleSource => new URL("./wasm/tensor_bg.wasm", import.meta.url);

let loading: Promise<TensorModule> | undefined;

/** The module, ready for use. It is fetched and compiled once, and again only if that failed. */
export function loadTensors(source?: ModuleSource): Promise<TensorModule> {
  loading ??= start(source).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start(source: ModuleSource | undefined): Promise<TensorModule> {
  const [module, compiled] = await Promise.all([import("./wasm/tensor.js"), compileSource(await (source ?? file()))]);
  await module.default({ module_or_path: compiled });
  begin(module);
  return module;
}
