// The generated JavaScript around a module made small, and the module as text for the entry `inline`.
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transform } from "esbuild";
import { root } from "./run.mjs";

const dist = join(root, "dist");

/** wgpu asks for `navigator.gpu` in windows and workers only; Node and Deno have it without being either. */
const scopeOfWorkers = "arg0.WorkerGlobalScope;";

/** Rewrites `dist/NAME.js` without what only readers need. */
export async function finishGlue(name) {
  const file = join(dist, `${name}.js`);
  const generated = await readFile(file, "utf8");
  if (!generated.includes(scopeOfWorkers)) throw new Error("wgpu no longer asks for its scope");
  const anywhere = generated.replace(scopeOfWorkers, "arg0.WorkerGlobalScope ?? arg0;");
  const { code } = await transform(anywhere, { minify: true, target: "es2022", format: "esm" });
  await writeFile(file, code);
}

/** Makes `dist/NAME-wasm.js` of the module. */
export async function embed(name) {
  const wasm = await readFile(join(dist, `${name}_bg.wasm`));
  await writeFile(join(dist, `${name}-wasm.js`), `export default "${wasm.toString("base64")}";\n`);
}
