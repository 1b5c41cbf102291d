import type { ModuleSource } from "../base/types.js";
import { loadWith, type ModuleWith } from "../modules/load.js";
import * as glue from "../wasm/formats.js";

/** The module that reads and writes containers of other formats. */
export type FormatsModule = ModuleWith<typeof glue>;

/** Returns the URL of the module, which is beside the chunk that has this function, since several adapters share it. */
function file(): URL {
  return new URL("./formats_bg.wasm", import.meta.url);
}

/** Loads the module. */
export function loadFormats(source?: ModuleSource): Promise<FormatsModule> {
  return loadWith("formats", glue, file, source);
}
