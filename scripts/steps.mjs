// The steps of `npm test`, in the order in which they run.
import { tmpdir } from "node:os";
import { findProgram, findWasmBindgen, lavapipe, swiftshader } from "./machine.mjs";

const wasm = ["--target", "wasm32-unknown-unknown"];
const node = (script, ...args) => ["node", [script, ...args]];
const cargo = (...args) => ["cargo", args];
const clippy = (...args) => cargo("clippy", ...args, "--", "-D", "warnings");

/** The software GPU that a step's Vulkan loader shall find, and no other. */
const driver = (manifest) => ({
  VK_ICD_FILENAMES: manifest,
  VK_DRIVER_FILES: manifest,
  // Without one, as in containers, drivers complain at every start.
  XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
});

/** Runs Rust tests for wasm in Chromium, as webdriver.json starts it, in a `place` that wasm-bindgen's runner knows. */
const browserRunner = (place) => ({
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: findWasmBindgen("wasm-bindgen-test-runner"),
  CHROMEDRIVER: findProgram("chromedriver"),
  WASM_BINDGEN_TEST_TIMEOUT: "300",
  [`WASM_BINDGEN_USE_${place}`]: "1",
});

/**
 * Steps as `{group, name, command: [program, arguments], env}`.
 *
 * Cargo steps share one target folder and follow each other so that each configuration is built once.
 */
export function steps() {
  const rustInBrowser = cargo("test", ...wasm, "--no-default-features", "--features", "wgpu", "--test", "web");
  const tensorsInBrowser = cargo("test", ...wasm, "--no-default-features", "--features", "wgpu", "--test", "tensor");
  const gpuSuites = ["engine", "engine_batch", "conformance"].flatMap((suite) => ["--test", suite]);
  return [
    { group: "native", name: "format", command: cargo("fmt", "--check") },
    { group: "native", name: "lint, all features", command: clippy("--all-targets", "--all-features") },
    { group: "native", name: "lint, CPU only", command: clippy("--all-targets", "--no-default-features") },
    {
      group: "native",
      name: "lint, library with wgpu",
      command: clippy("--all-targets", "--no-default-features", "--features", "wgpu"),
    },
    {
      group: "native",
      name: "lint, library with CUDA",
      command: clippy("--all-targets", "--no-default-features", "--features", "cuda"),
    },
    {
      group: "native",
      name: "lint, wasm for files and pages on the CPU",
      command: clippy("--lib", ...wasm, "--no-default-features", "--features", "npm-cpu"),
    },
    {
      group: "native",
      name: "lint, wasm for parts of files",
      command: clippy("--lib", ...wasm, "--no-default-features", "--features", "npm-seek"),
    },
    {
      group: "native",
      name: "lint, wasm with wgpu",
      command: clippy("--lib", "--test", "web", "--test", "tensor", ...wasm, "--no-default-features", "--features", "wgpu"),
    },
    {
      group: "native",
      name: "lint, wasm with the package's GPU",
      command: clippy("--lib", ...wasm, "--no-default-features", "--features", "npm-gpu"),
    },
    {
      group: "native",
      name: "lint, wasm with the package's tensors",
      command: clippy("--lib", ...wasm, "--no-default-features", "--features", "npm-tensor"),
    },
    {
      group: "native",
      name: "Rust tests, GPU is lavapipe",
      command: cargo("test", "--all-targets", "--all-features", "--no-fail-fast"),
      env: driver(lavapipe()),
    },
    {
      group: "native",
      name: "GPU suites, GPU is SwiftShader",
      command: cargo("test", "--all-features", "--no-fail-fast", ...gpuSuites),
      env: driver(swiftshader()),
    },
    { group: "native", name: "documentation tests", command: cargo("test", "--doc", "--all-features"), env: driver(lavapipe()) },
    {
      group: "browser",
      name: "encoder as WebAssembly, in Node",
      command: cargo("test", ...wasm, "--no-default-features", "--features", "npm-cpu", "--test", "lz4_wasm"),
      env: { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: findWasmBindgen("wasm-bindgen-test-runner") },
    },
    { group: "browser", name: "Rust API in a window", command: rustInBrowser, env: browserRunner("BROWSER") },
    { group: "browser", name: "Rust API in a worker", command: rustInBrowser, env: browserRunner("DEDICATED_WORKER") },
    { group: "browser", name: "tensors in a window", command: tensorsInBrowser, env: browserRunner("BROWSER") },
    { group: "browser", name: "build the package", command: node("scripts/build.mjs"), shared: true },
    { group: "browser", name: "browser tests", command: node("tests/browser/run.mjs") },
    { group: "package", name: "hostile input, in Node", command: node("pkg-tests/hostile.mjs") },
    { group: "package", name: "packed tarball", command: node("pkg-tests/run.mjs") },
    { group: "page", name: "page", command: node("www/test.mjs") },
  ];
}

/** Names by which steps can be chosen. */
export const groups = ["native", "browser", "package", "page"];

/** The steps of the chosen groups; the build belongs to all that need its result. */
export function choose(chosen) {
  return steps().filter(
    (step) => chosen.includes(step.group) || (step.shared && chosen.some((group) => group !== "native")),
  );
}

/** Counts `{passed, failed}` that a step's output reports for its single tests, or null. */
export function countTests(output) {
  const plain = output.replace(/\u001b\[[0-9;]*m/g, "");
  const found = [...plain.matchAll(/^(?:test result: .*?\. )?(\d+) passed[;,] (\d+) failed/gm)];
  if (found.length === 0) return null;
  const sum = (column) => found.reduce((total, match) => total + Number(match[column]), 0);
  return { passed: sum(1), failed: sum(2) };
}
