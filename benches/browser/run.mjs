// Benches the package in Chromium on this machine's GPU: node benches/browser/run.mjs FILE... [-- FLAG...]
//
// Prints one JSON object a line. With --tensors in place of files it multiplies matrices beside TensorFlow.js, which it
// installs under this folder. Flags go to Chromium; on Linux it may need --use-angle=vulkan
// --enable-features=Vulkan --disable-vulkan-surface --enable-unsafe-webgpu --enable-webgpu-developer-features.
// PAGEPRESS_SOFTWARE=1 takes SwiftShader and little work: to see that the bench works, not to measure.
import { existsSync } from "node:fs";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { chromium } from "playwright-core";
import { buildPackage } from "../../scripts/build.mjs";
import { root, run } from "../../scripts/build/run.mjs";
import { findChromium } from "../../scripts/machine.mjs";
import { serve } from "../../tests/browser/harness/server.mjs";

const here = fileURLToPath(new URL(".", import.meta.url));
const out = join(root, "target/browser-bench");
const software = process.env.PAGEPRESS_SOFTWARE === "1";

/** A page with the benches, and what closes it. */
async function openPage(flags) {
  const server = await serve(root);
  const always = ["--no-first-run", "--disable-background-networking", "--disable-component-update"];
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

async function benchPages(files, flags) {
  await mkdir(join(out, "data"), { recursive: true });
  for (const file of files) await copyFile(file, join(out, "data", basename(file)));
  const { page, close } = await openPage(flags);
  const options = {
    files: files.map((file) => `/target/browser-bench/data/${basename(file)}`),
    residentBytes: software ? 0 : 960 * 2 ** 20,
    endToEndBytes: software ? 1 : undefined,
    runs: software ? 1 : 5,
    allowSoftware: software,
  };
  await page.evaluate((given) => globalThis.bench(given, globalThis.note), options);
  await close();
  await rm(join(out, "data"), { recursive: true });
}

/** TensorFlow.js as one file for the page. */
async function bundleTensorflow() {
  if (!existsSync(join(here, "node_modules"))) {
    const flags = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--loglevel=error"];
    await run("npm", ["install", ...flags], { cwd: here });
  }
  const contents = 'export * as tf from "@tensorflow/tfjs-core"; import "@tensorflow/tfjs-backend-webgpu";';
  const outfile = join(out, "tensorflow.js");
  await build({ stdin: { contents, resolveDir: here }, bundle: true, format: "esm", outfile, logLevel: "error" });
}

async function benchTensors(flags) {
  await bundleTensorflow();
  const { page, close } = await openPage(flags);
  const options = {
    sizes: software ? [256, 512] : [256, 512, 1024, 2048],
    nProducts: software ? 2 : 20,
    runs: software ? 3 : 15,
    allowSoftware: software,
  };
  await page.evaluate((given) => globalThis.benchTensors(given, globalThis.note), options);
  await close();
}

async function main() {
  const split = process.argv.indexOf("--");
  const files = process.argv.slice(2, split < 0 ? undefined : split);
  const flags = split < 0 ? [] : process.argv.slice(split + 1);
  if (files.length === 0) throw new Error("usage: node benches/browser/run.mjs FILE...|--tensors [-- FLAG...]");
  await buildPackage();
  await (files[0] === "--tensors" ? benchTensors(flags) : benchPages(files, flags));
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
