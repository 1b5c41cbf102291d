// Benches the package in Chromium on this machine's GPU: node benches/browser/run.mjs FILE... [-- FLAG...]
//
// Prints one JSON object a line. Flags go to Chromium; on Linux it may need --use-angle=vulkan
// --enable-features=Vulkan --disable-vulkan-surface --enable-unsafe-webgpu --enable-webgpu-developer-features.
// PAGEPRESS_SOFTWARE=1 takes SwiftShader and few bytes: to see that the bench works, not to measure.
import { copyFile, mkdir, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { chromium } from "playwright-core";
import { buildPackage } from "../../scripts/build.mjs";
import { root } from "../../scripts/build/run.mjs";
import { findChromium } from "../../scripts/machine.mjs";
import { serve } from "../../tests/browser/harness/server.mjs";

const out = join(root, "target/browser-bench");
const software = process.env.PAGEPRESS_SOFTWARE === "1";

async function main() {
  const split = process.argv.indexOf("--");
  const files = process.argv.slice(2, split < 0 ? undefined : split);
  const flags = split < 0 ? [] : process.argv.slice(split + 1);
  if (files.length === 0) throw new Error("usage: node benches/browser/run.mjs FILE... [-- FLAG...]");
  await buildPackage();
  await mkdir(join(out, "data"), { recursive: true });
  for (const file of files) await copyFile(file, join(out, "data", basename(file)));
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
  const options = {
    files: files.map((file) => `/target/browser-bench/data/${basename(file)}`),
    residentBytes: software ? 0 : 2 ** 30,
    endToEndBytes: software ? 1 : undefined,
    runs: software ? 1 : 5,
    allowSoftware: software,
  };
  await page.evaluate((given) => globalThis.bench(given, globalThis.note), options);
  await browser.close();
  await server.close();
  await rm(join(out, "data"), { recursive: true });
}

main().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
