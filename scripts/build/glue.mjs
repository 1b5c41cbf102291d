// The generated JavaScript around a module made small, and the module as text for the entry `inline`.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { root } from "./run.mjs";

const dist = join(root, "dist");

/** Rewrites `dist/NAME.js` without what only readers need, and makes `dist/NAME-wasm.js`. */
export async function finishGlue(name) {
  const file = join(dist, `${name}.js`);
  const { code } = await transform(await readFile(file, "utf8"), { minify: true, target: "es2022", format: "esm" });
  await writeFile(file, code);
  const wasm = await readFile(join(dist, `${name}_bg.wasm`));
  await writeFile(join(dist, `${name}-wasm.js`), `export default "${wasm.toString("base64")}";\n`);
}
