// Builds the GPU module with calls that panic and trap (feature `faults`) to target/faults.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { findWasmBindgen } from "../../../scripts/machine.mjs";

const cwd = fileURLToPath(new URL("../../../", import.meta.url));

/** Builds `target/faults/gpu.js` and `gpu_bg.wasm`. */
export function buildFaults() {
  const target = ["--target", "wasm32-unknown-unknown", "--features", "gpu,faults"];
  run("cargo", ["build", "--quiet", "--package", "pagepress-wasm", "--bin", "gpu", ...target]);
  const options = ["--target", "web", "--experimental-reset-state-function", "--out-dir", "target/faults", "--out-name", "gpu"];
  run(findWasmBindgen("wasm-bindgen"), [...options, "target/wasm32-unknown-unknown/debug/gpu.wasm"]);
}

function run(command, args) {
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit" });
  if (status !== 0) throw new Error(`${command} ended with ${error?.message ?? `code ${status}`}`);
}
