// Builds the npm package to dist/: the wasm modules, the JavaScript and the types.
// `scripts/setup.mjs` installs its dependencies.
import { pathToFileURL } from "node:url";
import { fail } from "./build/run.mjs";
import { buildJavaScript } from "./build/javascript.mjs";
import { reportSizes } from "./build/sizes.mjs";
import { buildModules } from "./build/wasm.mjs";

/** Builds dist/. wasm-opt runs only for modules that changed. */
export async function buildPackage() {
  await buildModules();
  await buildJavaScript();
  await reportSizes();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  buildPackage().catch(fail);
}
