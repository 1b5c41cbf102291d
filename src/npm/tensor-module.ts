import { compileSource } from "./compile-source.js";
import type { ModuleSource } from "./types.js";
import type { RawModule } from "./tensor/glue.js";

/** The WebAssembly of tensors, which bundlers find by this very line. */
const file = (): ModuleSource => new URL("./tensor_bg.wasm", import.meta.url);

let loading: Promise<RawModule> | undefined;

/** The module, ready for use. It is fetched and compiled once, and again only if that failed. */
export function loadTensors(source?: ModuleSource): Promise<RawModule> {
  loading ??= start(source).catch((error: unknown) => {
    loading = undefined;
    throw error;
  });
  return loading;
}

async function start(source: ModuleSource | undefined): Promise<RawModule> {
  const [glue, module] = await Promise.all([import("./tensor.js"), compileSource(await (source ?? file()))]);
  await glue.default({ module_or_path: module });
  return glue;
}
