// The steps of `npm test`.
import { tmpdir } from "node:os";
import path from "node:path";
import { findProgram, findWasmBindgen, lavapipe, swiftshader } from "./machine.mjs";
import { root } from "./process.mjs";

const wasm = ["--package", "pagepress", "--target", "wasm32-unknown-unknown"];
const everything = ["--workspace", "--all-targets"];
const node = (script, ...args) => ["node", [script, ...args]];
const check = (name) => node(`scripts/checks/${name}.mjs`);
const cargo = (...args) => ["cargo", args];
const clippy = (...args) => cargo("clippy", ...args, "--", "-D", "warnings");

/** Duration of each step of the group `soak`, in seconds. */
const soakSeconds = process.env.PAGEPRESS_SOAK_SECONDS ?? "3600";

/**
 * Settings of glibc's allocator that return freed memory to the system at once. By default it keeps large blocks in its
 * heaps, whose size then depends on the order of calls and not on what is in use: 144 MB in place of 81 in a soak run.
 */
const exactMemory = { MALLOC_ARENA_MAX: "1", MALLOC_MMAP_THRESHOLD_: "65536", MALLOC_TRIM_THRESHOLD_: "131072" };

/** Returns the variables that restrict the Vulkan loader to one driver. */
const driver = (manifest) => ({
  VK_ICD_FILENAMES: manifest,
  VK_DRIVER_FILES: manifest,
  // Drivers print a warning at every start without it, as in containers.
  XDG_RUNTIME_DIR: process.env.XDG_RUNTIME_DIR ?? tmpdir(),
});

/**
 * Variables for suites on SwiftShader, which needs nine times as long as lavapipe in the step before: other damaged pages than there, and
 * fewer, which still fill two rounds of batches of every page size; and calls with two page sizes at one level, since other tests compare
 * pages of all sizes and levels.
 */
const onSwiftShader = { PAGEPRESS_MUTATED_SEED: "2", PAGEPRESS_MUTATED_PAGES: "30000", PAGEPRESS_FEW_CALLS: "1" };

/**
 * Returns the variables that run Rust tests in Chromium, configured by webdriver.json, in a `scope` of wasm-bindgen's
 * runner.
 */
const browserRunner = (scope) => ({
  CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: findWasmBindgen("wasm-bindgen-test-runner"),
  CHROMEDRIVER: findProgram("chromedriver"),
  // The limit of a whole suite, for browsers that crashed. Each test has its own limit (`tests/common/limit.rs`).
  WASM_BINDGEN_TEST_TIMEOUT: "3000",
  [`WASM_BINDGEN_USE_${scope}`]: "1",
});

/** Arguments that select the suites of the GPU engines. */
const gpuSuites = ["engine", "engine_batch", "conformance", "convergence", "cuda_c"].flatMap((suite) => ["--test", suite]);

/** Arguments that skip configurations of devices which differ from others in the host's code, or in what naga checks: lavapipe tests these. */
const differentKernels = ["checked", "default_limits", "with_staging", "without_passthrough"].flatMap((name) => ["--skip", `wgpu_${name}::`]);

/** Arguments that select the Rust tests that run as WebAssembly. */
const testsInBrowsers = ["web", "tensor", "lz4_wasm"].flatMap((test) => ["--test", test]);

/** Arguments that select all packages but those without Rust tests, which other steps build. */
export const tested = ["--workspace", ...["pagepress-python", "pagepress-wasm"].flatMap((name) => ["--exclude", name])];

/** Returns the steps of the group `native`. */
function nativeSteps() {
  return [
    { group: "native", name: "format", command: cargo("fmt", "--all", "--check") },
    { group: "native", name: "paths and links of documents", command: check("paths") },
    { group: "native", name: "lint, all features", command: clippy(...everything, "--all-features") },
    { group: "native", name: "lint, CPU only", command: clippy(...everything, "--no-default-features") },
    { group: "native", name: "lint, with wgpu", command: clippy("--workspace", "--lib", "--bins", "--no-default-features", "--features", "wgpu") },
    {
      group: "native",
      name: "lint, wasm",
      command: clippy("--lib", ...testsInBrowsers, ...wasm, "--no-default-features", "--features", "gpu-wasm,web-faults"),
    },
    {
      group: "native",
      name: "Rust tests, GPU is lavapipe",
      // Lints have checked the examples; linking them takes a minute.
      command: cargo("test", ...tested, "--lib", "--bins", "--tests", "--all-features", "--no-fail-fast"),
      env: driver(lavapipe()),
    },
    // One GPU of each driver that Debian has, but for NVIDIA's, which takes longest; of Adreno the one on which kernels have spilled most.
    ...["Adreno 630", "Apple M1", "Navi 31"].map((gpu) => ({ group: "native", name: `kernels by the compiler of ${gpu}`, command: node("scripts/checks/compilers.mjs", gpu) })),
    { group: "native", name: "documentation tests", command: cargo("test", ...tested, "--doc", "--all-features"), env: driver(lavapipe()) },
  ];
}

/** Returns the steps that run native tests again on another GPU. */
function otherGpuSteps() {
  return [
    {
      group: "native",
      name: "GPU suites, GPU is SwiftShader",
      command: cargo("test", ...tested, "--all-features", "--no-fail-fast", ...gpuSuites, "--", ...differentKernels),
      env: { ...driver(swiftshader()), ...onSwiftShader },
    },
  ];
}

/** File of the kernels of `tests/cuda_c` as WGSL, for Chromium. */
const cudaCases = "target/cuda-cases.json";

/** Returns the steps of kernels in CUDA C that Chromium runs, which native tests translate. */
function translatedSteps() {
  return [
    {
      group: "browser",
      name: "kernels in CUDA C, translated",
      command: cargo("test", ...tested, "--all-features", "--test", "cuda_c", "written"),
      env: { ...driver(lavapipe()), PAGEPRESS_WRITE_CUDA_CASES: path.join(root, cudaCases) },
    },
    { group: "browser", name: "kernels in CUDA C, in Chromium", command: node("tests/browser/cuda-c.mjs", cudaCases) },
  ];
}

/** Returns a run of Rust tests in Chromium, in a scope of wasm-bindgen's runner. */
const rustInBrowser = (group, name, test, scope) => ({
  group,
  name,
  command: cargo("test", ...wasm, "--no-default-features", "--features", "wgpu", "--test", test),
  env: browserRunner(scope),
});

/** Returns the steps of Rust tests that run as WebAssembly. Those of tensors run by name: the package's own tests run their kernels, but for those that `tests/browser/suite/tensor.js` names. */
function webAssemblySteps() {
  return [
    {
      group: "browser",
      name: "encoder as WebAssembly, in Node",
      command: cargo("test", ...wasm, "--no-default-features", "--features", "web-dictionary", "--test", "lz4_wasm"),
      env: { CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUNNER: findWasmBindgen("wasm-bindgen-test-runner") },
    },
    rustInBrowser("browser", "Rust API in a window", "web", "BROWSER"),
    rustInBrowser("browser", "Rust API in a worker", "web", "DEDICATED_WORKER"),
  ];
}

/** Features of the package's modules. */
const ofModules = {
  "files and pages on the CPU": "web-files",
  "files and pages with dictionaries": "web-dictionary",
  "containers of other formats": "web-formats",
  "kernels in CUDA C": "web-cuda-c",
  "files and snapshots": "web-files,web-snapshot",
  "parts of files": "web-seek",
  "pages of a GPU": "web-gpu",
  tensors: "web-tensor",
};

/** Returns lints of sets of features that other steps compile, or compile in part: what they find is code that a set does not use. */
function moreLints() {
  const native = ["wgpu", "cuda"].map((engine) => ({
    group: "lints",
    name: `lint, with ${engine} alone`,
    command: clippy(...everything, "--no-default-features", "--features", engine),
  }));
  const modules = Object.entries(ofModules).map(([name, features]) => ({
    group: "lints",
    name: `lint, wasm for ${name}`,
    command: clippy("--lib", ...wasm, "--no-default-features", "--features", features),
  }));
  return [...native, ...modules];
}

/** Returns the build of the package, and the steps of the groups that are not above. */
function packageSteps() {
  return [
    { group: "browser", name: "build the package", command: node("scripts/build.mjs"), shared: true },
    { group: "browser", name: "browser tests", command: node("tests/browser/run.mjs") },
    { group: "package", name: "hostile input, in Node", command: node("pkg-tests/hostile.mjs") },
    { group: "package", name: "packed tarball", command: node("pkg-tests/run.mjs") },
    { group: "adapters", name: "adapters with their libraries", command: node("pkg-tests/adapters/run.mjs") },
    { group: "adapters", name: "GGUF files by the package of ggml", command: check("gguf") },
    { group: "bindings", name: "C interface", command: check("c") },
    { group: "bindings", name: "Python package", command: check("python") },
    { group: "matrix", name: "packed tarball, older and other tools", command: node("pkg-tests/matrix/run.mjs") },
    { group: "matrix", name: "Python wheel with GPU engines, codec of zarrs", command: node("scripts/checks/python.mjs", "--full", "--zarrs") },
    { group: "machines", name: "snapshots of SQLite, Python and PCs", command: node("pkg-tests/machines/run.mjs") },
    { group: "page", name: "page", command: node("www/test.mjs") },
    { group: "supply", name: "licences, bans, sources, advisories", command: check("deny") },
    { group: "supply", name: "npm audit", command: check("audit") },
    ...moreLints(),
    { group: "release", name: "publish dry runs", command: check("publish") },
    { group: "release", name: "equal modules from two folders", command: check("reproducible") },
    { group: "release", name: "public API", command: check("api") },
    {
      group: "release",
      name: "documentation",
      command: cargo("doc", "--workspace", "--no-deps", "--all-features"),
      env: { RUSTDOCFLAGS: "-Dwarnings" },
    },
    { group: "miri", name: "Miri", command: check("miri") },
    { group: "sanitizers", name: "AddressSanitizer", command: check("sanitizers") },
    { group: "emulated", name: "NEON under QEMU", command: check("emulated") },
    {
      group: "compilers",
      name: "kernels by the compilers of other GPUs",
      command: node("scripts/checks/compilers.mjs"),
    },
    {
      group: "compilers",
      name: "kernels by the compilers of Mali, the Raspberry Pi 5 and Intel's GPUs",
      command: node("scripts/checks/compilers.mjs", "--built", "--limit", "120"),
      minutes: 120,
    },
    { group: "compilers", name: "kernels as HLSL by Microsoft's compiler", command: check("hlsl") },
    {
      group: "compilers-emulated",
      name: "kernels by the compiler of PowerVR under QEMU",
      command: node("scripts/checks/compilers.mjs", "--emulated"),
    },
    {
      group: "swiftshader",
      name: "GPU suites in all configurations, GPU is SwiftShader",
      command: cargo("test", ...tested, "--all-features", "--no-fail-fast", ...gpuSuites),
      env: driver(swiftshader()),
      minutes: 60 * 3,
    },
    rustInBrowser("swiftshader", "tensors in a window", "tensor", "BROWSER"),
    {
      group: "soak",
      name: "mixed calls, GPU is lavapipe",
      command: cargo("test", ...tested, "--all-features", "--test", "soak"),
      env: { ...driver(lavapipe()), PAGEPRESS_SOAK_SECONDS: soakSeconds },
      minutes: 60 + Number(soakSeconds) / 60,
    },
    {
      group: "soak",
      name: "mixed calls in Node and Chromium",
      // V8's young generation otherwise has 2 or 33 MB, depending on the last collections.
      command: node("--max-semi-space-size=1", "tests/browser/soak.mjs", soakSeconds),
      env: exactMemory,
      minutes: 60 + Number(soakSeconds) / 30,
    },
    { group: "fuzz", name: "fuzzing", command: check("fuzz"), minutes: 60 * 24 },
  ];
}

/**
 * Returns all steps as lists of `{group, name, command: [program, arguments], env, minutes}` that run side by side, each in its order:
 * those of native code, and those of the package and WebAssembly. Both take about as long. Most steps use one core for much of their
 * time: they link, optimise a module, or compile kernels for SwiftShader.
 *
 * Cargo steps share one target folder and are ordered so that each configuration is built once. Native tests select the same packages, since
 * cargo would else unify the features of dependencies differently, and build them again.
 */
const lanes = () => [[...nativeSteps(), ...translatedSteps(), ...otherGpuSteps()], [...packageSteps(), ...webAssemblySteps()]];

/** The groups that `npm test` runs. */
export const groups = ["native", "browser", "package", "adapters", "bindings", "page", "supply"];

/** The groups that run only by name, as they take long, need a nightly toolchain, or repeat much of what other steps compile. */
export const longGroups = ["lints", "release", "matrix", "machines", "miri", "sanitizers", "emulated", "compilers", "compilers-emulated", "swiftshader", "soak", "fuzz"];

/** The groups that need the built package. */
const withPackage = ["adapters", "browser", "package", "matrix", "machines", "page", "release", "soak"];

/**
 * Returns the steps of the chosen groups, including the build of the package if one of them needs it, as lists that run side
 * by side.
 */
export function choose(chosen) {
  const isNeeded = chosen.some((group) => withPackage.includes(group));
  const isChosen = (step) => chosen.includes(step.group) || (step.shared && isNeeded);
  return lanes().map((lane) => lane.filter(isChosen)).filter((lane) => lane.length > 0);
}
