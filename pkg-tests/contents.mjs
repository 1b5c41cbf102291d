// Checks the contents and the size of the tarball.
import { strict as assert } from "node:assert";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { adapters } from "../scripts/build/javascript.mjs";
import { root } from "../scripts/build/run.mjs";
import { measureSizes } from "../scripts/build/sizes.mjs";

/** Budgets in bytes after gzip, for each module with its glue and for the JavaScript of each entry, with 1 % for other
 * versions of the compiler. */
const budgets = {
  cpu: 38_000,
  cuda: 791_000,
  dictionary: 61_600,
  formats: 32_600,
  seek: 22_300,
  snapshot: 66_300,
  gpu: 166_000,
  tensor: 255_200,
  "index.js": 22_100,
  "worker.js": 3_700,
  "cuda.js": 3_700,
  "dictionary.js": 8_200,
  "snapshot.js": 27_300,
  "tensor.js": 10_850,
  ...Object.fromEntries(adapters.map((name) => [`adapters/${name}.js`, 6_200])),
};

const wanted = [
  "LICENSE-APACHE",
  "LICENSE-MIT",
  "README.md",
  ...["adapters", "command", "cuda-c", "npm", "rust", "snapshots"].map((name) => `docs/${name}.md`),
  ...["command", "cuda", "dictionary", "index", "inline", "snapshot", "tensor", "worker"].map((name) => `dist/${name}.js`),
  ...["cuda.js", "dictionary.js", "index.js", "inline.js", "package.json", "pagepress.js", "snapshot.js", "tensor.js"].map((name) => `dist/commonjs/${name}`),
  ...["cuda/index", "dictionary/index", "index", "inline", "snapshot/index", "tensor/index", "worker"].map((name) => `dist/types/${name}.d.ts`),
  ...adapters.flatMap((name) => ["", "commonjs/"].map((folder) => `dist/${folder}adapters/${name}.js`)),
  ...adapters.map((name) => `dist/types/adapters/${name}.d.ts`),
  ...["cpu", "cuda", "dictionary", "formats", "gpu", "seek", "snapshot", "tensor"].flatMap((name) => [`dist/${name}_bg.wasm`, `dist/types/wasm/${name}.d.ts`]),
  "package.json",
];
/** Entries and their shared chunks, modules, and types. */
const allowed =
  /^(dist\/([a-z-]+(-[A-Z0-9]{8})?\.js|(commonjs\/)?adapters\/[a-z0-9-]+\.js|[a-z]+_bg\.wasm|(commonjs\/)?types\/([a-z]+\/){0,2}[a-z0-9-]+\.d\.ts|commonjs\/[a-z]+\.js(on)?)|docs\/[a-z-]+\.md|package\.json|[A-Z]+(-[A-Z]+)?(\.md)?)$/;
/**
 * Maximum number of JavaScript files that a page loads before it compresses on the CPU: the entry, and the chunks that it shares with
 * the other entries (snapshots, dictionaries, adapters, tensors), by the entries that need each.
 */
const MOST_FILES = 7;

/** Checks that the tarball has all required files and no others. */
export function checkFiles(files) {
  assert.deepEqual(wanted.filter((file) => !files.includes(file)), [], "missing");
  assert.deepEqual(files.filter((file) => !allowed.test(file)), [], "not wanted");
  assert.ok(!files.includes("dist/internals.js"), "the internals for tests are in the tarball");
}

/** Checks the number of JavaScript files that a page without a bundler loads. */
export async function checkRequests() {
  const loaded = new Set(["index.js"]);
  for (const file of loaded) {
    const script = await readFile(join(root, "dist", file), "utf8");
    for (const [, imported] of script.matchAll(/^(?:.*\bfrom|import) ?"\.\/([^"]+)"/gm)) loaded.add(imported);
  }
  assert.ok(loaded.size <= MOST_FILES, `index.js loads ${[...loaded].join(", ")}`);
}

/** Checks that the modules import only from their generated JavaScript. */
export async function checkModules() {
  for (const name of ["cpu", "cuda", "dictionary", "formats", "seek", "snapshot", "gpu", "tensor"]) {
    const module = new WebAssembly.Module(await readFile(join(root, `dist/${name}_bg.wasm`)));
    const imported = new Set(WebAssembly.Module.imports(module).map((one) => one.module));
    assert.deepEqual([...imported], [`./${name}_bg.js`], `imports of ${name}`);
  }
}

/** Checks that the manifest has no install scripts and no dependencies, and that types come first in each entry. */
export async function checkManifest() {
  const manifest = JSON.parse(await readFile(join(root, "package.json"), "utf8"));
  for (const name of ["preinstall", "install", "postinstall", "prepare"]) {
    assert.equal(manifest.scripts?.[name], undefined, `script ${name}`);
  }
  assert.equal(manifest.dependencies, undefined);
  for (const entry of [".", "./inline", "./worker", "./cuda", "./dictionary", "./snapshot", "./tensor", ...adapters.map((name) => `./adapters/${name}`)]) {
    const { default: found } = manifest.exports[entry];
    assert.equal(Object.keys(typeof found === "string" ? manifest.exports[entry] : found)[0], "types", entry);
  }
}

/** Checks the size budgets. */
export async function checkSizes() {
  for (const { part, gzip } of await measureSizes()) {
    assert.ok(gzip <= budgets[part], `${part} is ${gzip} bytes after gzip, more than ${budgets[part]}`);
  }
}
