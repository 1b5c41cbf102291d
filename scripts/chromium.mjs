// Starts the browser that tests drive. Needs the npm packages.
import { chromium } from "playwright-core";
import { findChromium } from "./machine.mjs";
import { Remedy } from "./process.mjs";

/** A test browser talks to nobody but the test server, and runs as root in containers. */
const always = [
  "--headless=new",
  "--no-sandbox",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
  "--disable-quic",
];

/** WebGPU on SwiftShader; without these flags `requestAdapter()` gives null on Linux. */
const softwareGpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader"];

/** A headless Chromium with a fresh profile; with `webgpu` it has a software GPU. */
export async function launch({ webgpu }) {
  const executablePath = findChromium();
  if (!executablePath) throw new Remedy("No Chromium: apt-get install chromium, or set CHROMIUM to its path");
  return chromium.launch({ executablePath, args: [...always, ...(webgpu ? softwareGpu : [])] });
}
