// Finds programs, browsers and Vulkan drivers on this machine.
import { accessSync, constants, existsSync, readFileSync, readdirSync } from "node:fs";
import path from "node:path";
import { ask, root } from "./process.mjs";

/** Returns the path of the first of these programs that is in PATH, or null. */
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

/**
 * Returns the path of the browser for tests: the variable `CHROMIUM`, else Chromium or Chrome in PATH; null if there is
 * none.
 */
export function findChromium() {
  const chosen = process.env.CHROMIUM;
  return chosen || findProgram("chromium", "chromium-browser", "google-chrome-stable", "google-chrome");
}

const driverFolders = ["/usr/share/vulkan/icd.d", "/usr/local/share/vulkan/icd.d", "/etc/vulkan/icd.d"];

/** Returns the manifest of lavapipe, Mesa's software Vulkan driver, or null. */
export function lavapipe() {
  for (const folder of driverFolders.filter((folder) => existsSync(folder))) {
    const manifest = readdirSync(folder).find((name) => /^lvp_icd\..*json$/.test(name));
    if (manifest) return path.join(folder, manifest);
  }
  return null;
}

/** Returns the manifest of SwiftShader's Vulkan driver, which is part of Chromium, or null. */
export function swiftshader() {
  const folders = ["/usr/lib/chromium", "/usr/lib/chromium-browser", "/opt/google/chrome"];
  return folders.map((folder) => path.join(folder, "vk_swiftshader_icd.json")).find((file) => existsSync(file)) ?? null;
}

/** Returns the version of wasm-bindgen in Cargo.lock. The command-line tool must have the same version. */
export function wasmBindgenVersion() {
  const lock = readFileSync(path.join(root, "Cargo.lock"), "utf8");
  return /name = "wasm-bindgen"\nversion = "([^"]+)"/.exec(lock)?.[1];
}

/** The folder in which setup builds tools that are not in PATH. */
export const toolsFolder = path.join(root, "target", "tools");

/** Returns the path of a program of wasm-bindgen with the version in Cargo.lock, or null. */
export function findWasmBindgen(program) {
  const candidates = [path.join(toolsFolder, "bin", program), findProgram(program)];
  return candidates.find((file) => file && ask(file, ["--version"])?.endsWith(` ${wasmBindgenVersion()}`)) ?? null;
}
