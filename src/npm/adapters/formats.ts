import type { ModuleSource } from "../base/types.js";
import { loadWith, type ModuleWith } from "../modules/load.js";
import * as glue from "../wasm/formats.js";

/** The module that reads and writes containers of other formats. */
export type FormatsModule = ModuleWith<typeof glue>;

/** Loads the module. */
export function loadFormats(source?: ModuleSource): Promise<FormatsModule> {
  return loadWith("formats", glue, source);
}
