// Benchmarks the package in Chromium on this machine's GPU: node benches/browser/run.mjs FILE... [-- FLAG...]
//
// Prints one JSON object per line. With --tensors instead of files it compares matrix products with TensorFlow.js,
// which it installs under this folder. With --peers before the files it compares the CPU with lz4-wasm, fflate and the
// browser's gzip, on the first 64 MiB of each file. --built uses dist/ and target/browser-bench/ without building them,
// for a copy of the repository elsewhere, which needs benches, dist, scripts, target/browser-bench, tests, and from
// node_modules playwright-core, sirv and its dependencies @polka/url, mrmime and totalist. CHROMIUM or --chromium PATH
// names the browser. Flags go to Chromium; on Linux it may need --use-angle=vulkan --enable-features=Vulkan
// --disable-vulkan-surface --enable-unsafe-webgpu --enable-webgpu-developer-features. PAGEPRESS_SOFTWARE=1 uses
// SwiftShader and little work, to test the benchmark itself.
import { existsSync } from "node:fs";
import { copyFile, mkdir, readFile, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";
import { root, run } from "../../scripts/build/run.mjs";
import { findChromium } from "../../scripts/machine.mjs";
import { serve } from "../../tests/browser/harness/server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(root, "target/browser-bench");
const software = process.env.PAGEPRESS_SOFTWARE === "1";

/** Maximum bytes of content in a comparison of libraries. */
const PEER_BYTES = 64 * 2 ** 20;

/** Opens a page with the benchmarks; returns it with a function that closes it. */
async function openPage(flags) {
  const server = await serve(root);
  const always = ["--js-flags=--expose-gc", "--no-first-run", "--disable-background-networking", "--disable-component-update"];
  const args = [...always, ...(software ? ["--use-webgpu-adapter=swiftshader", "--enable-unsafe-webgpu"] : flags)];
  if (process.getuid?.() === 0) args.push("--no-sandbox");
  const browser = await chromium.launch({ executablePath: findChromium(), args });
  const page = await browser.newPage();
  page.setDefaultTimeout(0);
  await page.exposeFunction("note", (line) => console.log(JSON.stringify(line)));
  await page.goto(`${server.url}benches/browser/index.html`);
  await page.waitForFunction(() => globalThis.bench);
  const close = async () => {
    await browser.close();
    await server.close();
  };
  return { page, close };
}

/** Copies `files` to the server, and calls `work` with a page and their URLs. */
async function withFiles(files, flags, work) {
  await mkdir(join(out, "data"), { recursive: true });
  for (const file of files) await copyFile(file, join(out, "data", basename(file)));
  const { page, close } = await openPage(flags);
  await work(page, files.map((file) => `/target/browser-bench/data/${basename(file)}`));
  await close();
  await rm(join(out, "data"), { recursive: true });
}

async function benchPages(page, files) {
  const options = {
    files,
    residentBytes: software ? 0 : 960 * 2 ** 20,
    endToEndBytes: software ? 1 : undefined,
    runs: software ? 1 : 5,
    allowSoftware: software,
  };
  await page.evaluate((given) => globalThis.bench(given, globalThis.note), options);
}

/** An esbuild plugin for lz4-wasm, which is built for webpack: copies the WebAssembly and makes its exports a module. */
const webAssemblyModules = {
  name: "wasm",
  setup: (build) =>
    build.onLoad({ filter: /\.wasm$/ }, async ({ path }) => {
      await copyFile(path, join(out, basename(path)));
      const module = await WebAssembly.compile(await readFile(path));
      const names = WebAssembly.Module.exports(module).map(({ name }) => name);
      const from = [...new Set(WebAssembly.Module.imports(module).map((one) => one.module))].map((name) => JSON.stringify(name));
      const contents = [
        ...from.map((name, i) => `import * as from${i} from ${name};`),
        `const imports = { ${from.map((name, i) => `${name}: from${i}`).join(", ")} };`,
        `const response = fetch(new URL(${JSON.stringify(basename(path))}, import.meta.url));`,
        "const { instance } = await WebAssembly.instantiateStreaming(response, imports);",
        `export const { ${names.join(", ")} } = instance.exports;`,
      ];
      return { contents: contents.join("\n"), loader: "js", resolveDir: dirname(path) };
    }),
};

/** Bundles lz4-wasm and fflate to one file for the page. */
async function bundlePeers() {
  const { build } = await import("esbuild");
  const contents = 'export * as lz4Wasm from "lz4-wasm"; export * as fflate from "fflate";';
  const outfile = join(out, "peers.js");
  await mkdir(out, { recursive: true });
  await build({ stdin: { contents, resolveDir: root }, bundle: true, format: "esm", outfile, plugins: [webAssemblyModules], logLevel: "error" });
}

async function benchPeers(page, files) {
  const options = { files, maxBytes: PEER_BYTES, runs: software ? 1 : 5 };
  await page.evaluate((given) => globalThis.benchPeers(given, globalThis.note), options);
}

/** Bundles TensorFlow.js to one file for the page. */
async function bundleTensorflow() {
  if (!existsSync(join(here, "node_modules"))) {
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    await run("npm", ["install", ...flags], { cwd: here });
  }
  const { build } = await import("esbuild");
  const contents = 'export * as tf from "@tensorflow/tfjs-core"; import "@tensorflow/tfjs-backend-webgpu";';
  const outfile = join(out, "tensorflow.js");
  await build({ stdin: { contents, resolveDir: here }, bundle: true, format: "esm", outfile, logLevel: "error" });
}

async function benchTensors(page) {
  const options = {
    sizes: software ? [256, 512] : [256, 512, 1024, 2048, 4096],
    nProducts: software ? 2 : 20,
    runs: software ? 3 : 15,
    allowSoftware: software,
  };
  await page.evaluate((given) => globalThis.benchTensors(given, globalThis.note), options);
}

const kinds = {
  pages: { bench: benchPages, bundle: async () => undefined },
  peers: { bench: benchPeers, bundle: bundlePeers },
  tensors: { bench: benchTensors, bundle: bundleTensorflow },
};

async function main() {
  const split = process.argv.indexOf("--");
  const own = process.argv.slice(2, split < 0 ? undefined : split);
  const flags = split < 0 ? [] : process.argv.slice(split + 1);
  const is = { type: "boolean", default: false };
  const options = { tensors: is, peers: is, built: is, chromium: { type: "string" } };
  const { values, positionals: files } = parseArgs({ args: own, options, allowPositionals: true });
  const kind = values.tensors ? "tensors" : values.peers ? "peers" : "pages";
  if (files.length === 0 && kind !== "tensors") {
    throw new Error("usage: node benches/browser/run.mjs [--peers] FILE...|--tensors [--built] [--chromium PATH] [-- FLAG...]");
  }
  if (values.chromium) process.env.CHROMIUM = values.chromium;
  if (!values.built) {
    await (await import("../../scripts/build.mjs")).buildPackage();
    await kinds[kind].bundle();
  }
  await withFiles(files, flags, kinds[kind].bench);
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
