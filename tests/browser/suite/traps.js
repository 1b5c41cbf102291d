// Tests traps in the GPU module: the call fails with a code, pending calls of the instance do not hang, and the next call
// gets a new instance and a new device. `pkg-tests/hostile/traps.mjs` does this for the CPU modules.
import { createCompressor, PagepressError } from "/dist/index.js";
import { GpuDevice } from "/dist/tensor.js";
import { check, rejects, same } from "./check.js";
import { mixed } from "./data.js";
import { openAuto } from "./engines.js";

const software = { backend: "webgpu", allowSoftware: true };

/** Prefix of the export that throws at its next call, as a trap does. */
let armed = null;

/** The closure that polls the promises of the module, recognised by its numeric argument. */
const POLL = "wasm_bindgen__convert__closures";

function trapping({ exports }) {
  const wrap = (name, call) => (...args) => {
    const isIt = armed !== null && name.startsWith(armed) && (armed !== POLL || typeof args[2] === "number");
    if (!isIt) return call(...args);
    armed = null;
    throw new WebAssembly.RuntimeError("unreachable");
  };
  const wrapped = Object.entries(exports).map(([name, value]) => [name, typeof value === "function" ? wrap(name, value) : value]);
  // The generated JavaScript checks with instanceof.
  return Object.create(Instance.prototype, { exports: { value: Object.fromEntries(wrapped) } });
}

const { instantiate, Instance } = WebAssembly;
WebAssembly.instantiate = async (...args) => trapping(await instantiate.apply(WebAssembly, args));
WebAssembly.Instance = function (...args) {
  return trapping(new Instance(...args));
};
WebAssembly.Instance.prototype = Instance.prototype;

/** Devices whose loss a test awaits. Chromium never settles `lost` of a device that was collected as garbage before. */
const awaited = new Set();

async function isDestroyed(device) {
  awaited.add(device);
  const { reason } = await device.lost;
  awaited.delete(device);
  return reason === "destroyed";
}

async function reopensTheGpu() {
  const [gpu, other] = [await createCompressor(software), await createCompressor(software)];
  const bytes = mixed(4096, 2);
  const options = { blockSize: 4096 };
  const frame = await gpu.compress(bytes, options);
  for (const name of [POLL, "gpucodec_compressBlocks"]) {
    const [first, second] = [gpu.device, other.device];
    const waiting = other.compressPages(bytes).then(() => null, (error) => error);
    await new Promise((resolve) => setTimeout(resolve));
    armed = name;
    await rejects(gpu.compress(bytes, options), "INTERNAL", PagepressError);
    const error = await waiting;
    check(error === null || (error instanceof PagepressError && error.code === "INTERNAL"), `${name}: ${error}`);
    same(await gpu.decompress(await gpu.compress(bytes, options)), bytes, `after ${name}`);
    same(await other.decompressPages(await other.compressPages(bytes)), bytes, `after ${name}, another compressor`);
    check(gpu.lastTiming.engine === "webgpu" && gpu.device !== first && other.device !== second, `${name}: the device stayed`);
    for (const device of [first, second]) check(await isDestroyed(device), `${name}: the device is open`);
  }
  same(await gpu.decompress(frame), bytes, "a frame from before");
  armed = "gpucodec_compressResident";
  const buffer = gpu.device.createBuffer({ size: 4096, usage: GPUBufferUsage.STORAGE });
  await rejects(gpu.compressResident(buffer), "INTERNAL", PagepressError);
  same(await gpu.decompressPages(await gpu.compressPages(bytes)), bytes, "after resident pages");
  await gpu.dispose();
  await other.dispose();
}

async function fallsBackToTheCpu() {
  const auto = await openAuto({ compressFrom: 1, decompressFrom: 1 });
  const bytes = mixed(65536, 3);
  armed = POLL;
  same(await auto.decompress(await auto.compress(bytes)), bytes, "content");
  check(auto.lastTiming.engine === "cpu" && auto.lastTiming.reason.includes("GPU"), auto.lastTiming.reason);
  await auto.dispose();
}

async function losesTensors() {
  for (const name of [POLL, "tensor_run"]) {
    const device = await GpuDevice.open({ allowSoftware: true });
    const { raw } = device;
    const tensor = await device.tensor(Float32Array.of(-1, 2));
    const pending = tensor.read().then(() => null, (error) => error);
    armed = name;
    const first = await (name === "tensor_run" ? tensor.relu() : device.relu(Float32Array.of(-1, 2))).then(() => null, (error) => error);
    const failed = [first, await pending].filter((error) => error !== null);
    check(failed.length > 0 && failed.every((error) => error instanceof PagepressError && error.code === "INTERNAL"), `${name}: ${failed}`);
    for (const call of [() => tensor.relu(), () => device.relu(Float32Array.of(1)), () => device.synchronize()]) {
      await rejects(call(), "INTERNAL", PagepressError);
    }
    check(await isDestroyed(raw), `${name}: the device is open`);
    for (const one of [tensor, device]) one.dispose();
    const next = await GpuDevice.open({ allowSoftware: true });
    same(await next.relu(Float32Array.of(-1, 2)), [0, 2], `after ${name}`);
    next.dispose();
  }
}

export const cases = [
  ["the GPU is reopened", reopensTheGpu],
  ["auto falls back to the CPU", fallsBackToTheCpu],
  ["lost tensors are errors with a code", losesTensors],
];
