// Builds the npm package into dist/: wasm modules and the TypeScript around them.
// `scripts/setup.mjs` installs what this needs.
import { pathToFileURL } from "node:url";
import { fail } from "./build/run.mjs";
import { buildJavaScript } from "./build/javascript.mjs";
import { reportSizes } from "./build/sizes.mjs";
import { buildModules } from "./build/wasm.mjs";

/** Builds dist/. Modules whose compiled input did not change are kept. */
export async function buildPackage() {
  await buildModules();
  await buildJavaScript();
  await reportSizes();
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  buildPackage().catch(fail);
}
