import type { ModuleSource } from "../base/types.js";
import { DictionaryModule } from "../modules/dictionary-module.js";
import { loadDictionary } from "../modules/load.js";
import * as glue from "../wasm/dictionary.js";

/** Returns the URL of the module. */
function file(): URL {
  return new URL("./dictionary_bg.wasm", import.meta.url);
}

let nextKey = 0;

/** Returns the dictionary module with a dictionary. */
export async function moduleOf(bytes: Uint8Array, id: number | undefined, source?: ModuleSource): Promise<DictionaryModule> {
  const { module, compiled } = await loaded(source);
  return new DictionaryModule(module, { key: nextKey++, module: compiled, bytes, id });
}

/** Returns the dictionary module, and its compiled form. */
function loaded(source?: ModuleSource): ReturnType<typeof loadDictionary> {
  return loadDictionary(glue, file, source);
}
