// Builds the JavaScript and the types of the package.
import { cp, mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { build } from "esbuild";
import { root, run } from "./run.mjs";
import { glue } from "./wasm.mjs";

const dist = join(root, "dist");
const commonJs = join(dist, "commonjs");
const source = (file) => join(root, "src/npm", file);

/** The entries, by their names in `dist`. */
const entries = { index: source("index.ts"), inline: source("inline.ts"), cuda: source("cuda/index.ts"), dictionary: source("dictionary/index.ts"), snapshot: source("snapshot/index.ts"), tensor: source("tensor/index.ts") };
/** The adapters for libraries of other formats, in the folder `adapters`. */
export const adapters = ["arrow", "hdf5", "lz4-wasm", "lz4js", "mcap", "parquet", "zarr"];
for (const name of adapters) entries[`adapters/${name}`] = source(`adapters/${name}.ts`);
/** The worker, a single file: its realm shares no modules with the entries. */
const worker = { worker: source("worker.ts") };
/** The command, which imports the package by name. */
const command = { command: source("bin/pagepress.ts") };
/** Internals for tests, which are not published. */
const internals = { internals: join(root, "tests/browser/harness/internals.js") };

/** Resolves imports of `wasm/NAME.js` in the sources to the generated JavaScript of the modules. */
export const generated = {
  name: "generated",
  setup({ onResolve }) {
    onResolve({ filter: /\/wasm\/[a-z-]+\.js$/ }, ({ path }) => ({ path: join(glue, path.split("/").at(-1)) }));
  },
};

const options = { bundle: true, format: "esm", target: "es2022", legalComments: "none", plugins: [generated] };

/** Bundles `src/npm` to one file per entry and chunks that entries share, and writes the types. */
export async function buildJavaScript() {
  await clean();
  const into = { outdir: dist, chunkNames: "[name]-[hash]", logLevel: "warning" };
  await build({ ...options, ...into, entryPoints: { ...entries, ...internals }, splitting: true });
  await build({ ...options, ...into, entryPoints: worker });
  await build({ ...options, ...into, entryPoints: command, platform: "node", packages: "external" });
  const compile = (project) => run(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", project]);
  await compile("tsconfig.json");
  const types = join(dist, "types/wasm");
  await mkdir(types, { recursive: true });
  for (const file of await readdir(glue)) if (file.endsWith(".d.ts")) await cp(join(glue, file), join(types, file));
  await compile("src/npm/bin");
  await buildCommonJs();
  // A copy, since types are resolved as ES modules or scripts by the package.json of their folder.
  await cp(join(dist, "types"), join(commonJs, "types"), { recursive: true });
}

/**
 * Defines the URL of `dist`, which replaces `import.meta.url`, and the globals of Node that Jest's jsdom environment
 * lacks.
 */
const nodeNames = `const distUrl = new URL("../", require("node:url").pathToFileURL(__filename)).href;
const { setImmediate } = require("node:timers");
const { TextDecoder, TextEncoder } = require("node:util");
const { ReadableStream, WritableStream } = require("node:stream/web");`;

/**
 * Builds the CommonJS form for hosts that cannot require ES modules, such as Jest: one script, and a file per entry that
 * exports its part. The script reads the wasm modules from files, also for `inline`, since bundlers use the ES modules.
 */
async function buildCommonJs() {
  const parts = { index: "main", inline: "main", cuda: "cuda", dictionary: "dictionary", snapshot: "snapshot", tensor: "tensor" };
  const files = { main: "index", cuda: "cuda/index", dictionary: "dictionary/index", snapshot: "snapshot/index", tensor: "tensor/index" };
  for (const name of adapters) {
    const part = name.replace("-", "_");
    parts[`adapters/${name}`] = part;
    files[part] = `adapters/${name}`;
  }
  const contents = Object.entries(files).map(([part, file]) => `export * as ${part} from "./${file}.js";`).join("\n");
  await build({
    ...options,
    stdin: { contents, resolveDir: join(root, "src/npm") },
    outfile: join(commonJs, "pagepress.js"),
    format: "cjs",
    platform: "node",
    define: { "import.meta.url": "distUrl" },
    banner: { js: nodeNames },
  });
  await mkdir(join(commonJs, "adapters"), { recursive: true });
  for (const [name, part] of Object.entries(parts)) {
    const script = name.includes("/") ? "../pagepress.js" : "./pagepress.js";
    await writeFile(join(commonJs, `${name}.js`), `module.exports = require("${script}").${part};\n`);
  }
  await writeFile(join(commonJs, "package.json"), '{ "type": "commonjs" }\n');
}

/** Returns the minified JavaScript of the entry `name`, without the glue of the modules and without lazily loaded chunks. */
export async function minified(name) {
  const external = { name: "external", setup: ({ onResolve }) => onResolve({ filter: /\/wasm\// }, ({ path }) => ({ path, external: true })) };
  const entryPoints = [{ ...entries, ...worker }[name]];
  const { outputFiles } = await build({ ...options, entryPoints, plugins: [external], minify: true, write: false });
  return outputFiles.map(({ contents }) => contents);
}

/** Removes the files of an earlier build, except the modules. */
async function clean() {
  await mkdir(dist, { recursive: true });
  for (const file of await readdir(dist)) {
    if (!file.endsWith("_bg.wasm")) await rm(join(dist, file), { recursive: true });
  }
}
