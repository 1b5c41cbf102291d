// Tests the documented behaviour of the package on a software GPU, apart from the output bytes.
import { createCompressor, PagepressError } from "/dist/index.js";
import { check, rejects, same } from "./check.js";
import { kinds, mixed } from "./data.js";

const software = { backend: "webgpu", allowSoftware: true };

async function choosesSoftwareOnlyIfAllowed() {
  const error = await rejects(createCompressor({ backend: "webgpu" }), "BACKEND_UNAVAILABLE", PagepressError);
  check(error.message.includes("software adapter"), error.message);
  const auto = await createCompressor({ allowSoftware: true });
  check(auto.backend.engine === "cpu" && auto.backend.adapter === null, "auto took a software adapter");
  check(auto.backend.rejected[0]?.reason === "software adapter", JSON.stringify(auto.backend));
  check(auto.device === null, "a device on the CPU");
  await auto.dispose();
  const gpu = await createCompressor(software);
  const { engine, adapter, software: isSoftware, reason } = gpu.backend;
  check(engine === "webgpu" && isSoftware, JSON.stringify(gpu.backend));
  check(adapter.includes("swiftshader") && reason.length > 0, JSON.stringify(gpu.backend));
  check(gpu.device instanceof GPUDevice, "no GPUDevice");
  await gpu.dispose();
  check(gpu.device === null, "a device after dispose");
}

async function runsCallsInTurn() {
  const gpu = await createCompressor(software);
  const bytes = mixed(4096, 2);
  const frames = await Promise.all([1, 2, 3].map(() => gpu.compress(bytes, { blockSize: 4096 })));
  const [pages, failure, content] = await Promise.all([
    gpu.compressPages(bytes),
    rejects(gpu.decompress(kinds.text(100)), "NOT_LZ4", PagepressError),
    gpu.decompress(frames[2]),
  ]);
  check(pages.byteLength === bytes.length && failure, "pages");
  same(frames[1], frames[0], "second frame");
  same(content, bytes, "content");
  const last = gpu.compressPages(bytes);
  const disposed = gpu.dispose();
  await rejects(gpu.compressPages(bytes), "DISPOSED", PagepressError);
  check((await last).byteLength === bytes.length, "the call before dispose");
  await disposed;
  await gpu.dispose();
}

async function reportsTimings() {
  const gpu = await createCompressor(software);
  check(gpu.lastTiming === null, "a timing before the first call");
  await gpu.compressPages(mixed(4096, 8));
  const { engine, reason, uploadNs, kernelNs, readbackNs, totalNs } = gpu.lastTiming;
  check(engine === "webgpu" && reason.length > 0 && totalNs > 0, JSON.stringify(gpu.lastTiming));
  for (const ns of [uploadNs, kernelNs, readbackNs]) {
    check(ns === null || (ns >= 0 && ns <= totalNs), JSON.stringify(gpu.lastTiming));
  }
  await gpu.dispose();
}

/** A destroyed device is replaced, or the call fails with `DEVICE_LOST`; the next call works. */
async function survivesDestroyedDevice() {
  const gpu = await createCompressor(software);
  const bytes = mixed(4096, 8);
  const expected = await gpu.compressPages(bytes);
  const before = gpu.device;
  before.destroy();
  same((await gpu.compressPages(bytes)).packed, expected.packed, "after the device was destroyed");
  check(gpu.device !== before, "the destroyed device is still in use");
  const running = gpu.compressPages(bytes);
  gpu.device.destroy();
  const outcome = await running.catch((error) => error);
  if (outcome instanceof Error) check(outcome.code === "DEVICE_LOST", `${outcome.code}: ${outcome.message}`);
  else same(outcome.packed, expected.packed, "destroyed in the middle");
  same(await gpu.decompressPages(expected), bytes, "at the end");
  await gpu.dispose();
}

/** A page whose browser gives adapters in compatibility mode only gets one, with the same bytes and the reasons against others. */
async function opensAnAdapterInCompatibilityMode() {
  const bytes = mixed(4096, 8);
  const core = await createCompressor(software);
  const expected = await core.compressPages(bytes);
  await core.dispose();
  const { gpu } = navigator;
  const request = gpu.requestAdapter.bind(gpu);
  const asked = [];
  gpu.requestAdapter = async (options) => {
    asked.push(options?.featureLevel ?? options?.powerPreference);
    return options?.featureLevel === "compatibility" ? request(options) : null;
  };
  let compressor;
  try {
    compressor = await createCompressor(software);
  } finally {
    delete gpu.requestAdapter;
  }
  const { engine, rejected } = compressor.backend;
  check(engine === "webgpu", JSON.stringify(compressor.backend));
  check(asked.includes("low-power") && asked.at(-1) === "compatibility", asked.join());
  for (const name of ["high-performance adapter", "low-power adapter"]) {
    check(rejected.some(({ candidate }) => candidate === name), JSON.stringify(rejected));
  }
  // A device in compatibility mode lacks this feature.
  const isCore = compressor.device.features.has("core-features-and-limits");
  const { maxComputeInvocationsPerWorkgroup: invocations, maxStorageBuffersPerShaderStage: buffers } = compressor.device.limits;
  check(!isCore, `a device of WebGPU's core, ${invocations} invocations, ${buffers} storage buffers`);
  const pages = await compressor.compressPages(bytes);
  same(pages.packed, expected.packed, "blocks");
  same(await compressor.decompressPages(pages), bytes, "content");
  await compressor.dispose();
}

export const cases = [
  ["opens an adapter in compatibility mode where there is no other", opensAnAdapterInCompatibilityMode],
  ["uses software adapters only if allowed", choosesSoftwareOnlyIfAllowed],
  ["runs calls one after the other", runsCallsInTurn],
  ["reports timings", reportsTimings],
  ["recovers from a destroyed device", survivesDestroyedDevice],
];
