import { checkOptions, checkSize, fail } from "../base/arguments.js";
import type { Configuration } from "../base/types.js";
import { setDefaults } from "../codec/open.js";
import { isRequested, setSources } from "../modules/load.js";
import { names } from "./options.js";

/** Says once, before anything else is called, where the WebAssembly is and how workers start. Options of single calls come
 * first.
 *
 * Throws `INVALID_ARGUMENT` for a module that was asked for already. */
export function configure(options: Configuration): void {
  checkOptions(options, names.configuration);
  const { modules = {}, createWorker, workers } = options;
  checkOptions(modules, names.modules);
  checkSize("workers", workers ?? 0, 1024);
  const asked = Object.keys(modules).find(isRequested);
  if (asked !== undefined) fail("modules", `${asked}, which is in use`, "call configure() before anything else");
  setSources(modules);
  setDefaults({ ...(createWorker && { createWorker }), ...(workers !== undefined && { workers }) });
}
