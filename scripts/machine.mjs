// What this machine has: programs, browsers, Vulkan drivers.
import { accessSync, constants, existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { ask, root } from "./process.mjs";

/** Path of the first of these programs that PATH knows, or null. */
export function findProgram(...names) {
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(Boolean);
  for (const name of names) {
    for (const folder of folders) {
      const file = path.join(folder, name);
      try {
        accessSync(file, constants.X_OK);
        return file;
      } catch {
        continue;
      }
    }
  }
  return null;
}

/** Path of the browser the tests drive: `CHROMIUM` of the environment, then PATH; null when there is none. */
export function findChromium() {
  const chosen = process.env.CHROMIUM;
  return chosen || findProgram("chromium", "chromium-browser", "google-chrome-stable", "google-chrome");
}

const driverFolders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/** Manifest of Mesa's software Vulkan driver, for this machine's architecture, or null. */
export function lavapipe() {
  for (const folder of driverFolders.filter((folder) => existsSync(folder))) {
    const manifest = readdirSync(folder).find((name) => /^lvp_icd\..*json$/.test(name));
    if (manifest) return path.join(folder, manifest);
  }
  return null;
}

/** Manifest of SwiftShader's Vulkan driver, which comes with Chromium, or null. */
export function swiftshader() {
  const folders = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome"];
  return folders.map((folder) => path.join(folder, "vk_swiftshader_icd.json")).find((file) => existsSync(file)) ?? null;
}

/** The wasm-bindgen version of Cargo.lock; the command-line tool must have the same. */
export function wasmBindgenVersion() {
  const lock = readFileSync(path.join(root, "Cargo.lock"), "utf8");
  return /name = "wasm-bindgen"\nversion = "([^"]+)"/.exec(lock)?.[1];
}

/** Where setup builds tools that PATH does not have. */
export const toolsFolder = path.join(root, "target", "tools");

/** Path of one of wasm-bindgen's programs, of Cargo.lock's version, or null. */
export function findWasmBindgen(program) {
  const candidates = [path.join(toolsFolder, "bin", program), findProgram(program)];
  return candidates.find((file) => file && ask(file, ["--version"])?.endsWith(` ${wasmBindgenVersion()}`)) ?? null;
}
