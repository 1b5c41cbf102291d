// Starts headless Chromium with a software GPU, with the GPU of the machine, or without a GPU.
import { existsSync } from "node:fs";
import { chromium } from "playwright-core";

const candidates = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/google-chrome"];

const quiet = [
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-quic",
  "--disable-sync",
  "--no-first-run",
  "--no-sandbox",
];
const flags = {
  none: [],
  software: ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"],
  // Headless Chromium on Linux uses SwiftShader without these.
  hardware: ["--enable-unsafe-webgpu", "--ignore-gpu-blocklist", "--use-angle=vulkan", "--enable-features=Vulkan", "--disable-vulkan-surface"],
};

/**
 * Starts Chromium with a fresh profile. `gpu` is `"software"`, `"hardware"`, or `"none"`, with which `requestAdapter()` resolves
 * to null; `more` are further flags.
 */
export function launch(gpu, more = []) {
  const executablePath = candidates.find((path) => path && existsSync(path));
  if (!executablePath) {
    throw new Error("no Chromium found; install it (Debian: apt-get install chromium) or set CHROMIUM to its path");
  }
  const args = [...quiet, ...flags[gpu], ...more];
  return chromium.launch({ executablePath, args, timeout: 180_000 });
}

/** Opens a page at `url` and collects its errors in `page.faults`. */
export async function openPage(browser, url) {
  const page = await browser.newPage();
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("crash", () => page.faults.push("the page crashed"));
  page.setDefaultTimeout(180_000);
  await page.goto(url);
  return page;
}
