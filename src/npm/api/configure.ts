import { checkOptions, checkSize, fail } from "../base/arguments.js";
import type { Configuration } from "../base/types.js";
import { isRequested, setSources } from "../modules/load.js";
import { setDefaults } from "../workers/open-pool.js";
import * as names from "./options.js";

/** Sets the sources of the WebAssembly modules and the default options of workers, once and before any other call. Options
 * of a call take precedence.
 *
 * Throws `INVALID_ARGUMENT` for a module that has already been requested. */
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
