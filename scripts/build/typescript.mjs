// The JavaScript and the types of the package.
import { join } from "node:path";
import { root, run } from "./run.mjs";

/** Compiles `src/npm` to `dist`. */
export function buildTypeScript() {
  return run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", "tsconfig.json"]);
}
