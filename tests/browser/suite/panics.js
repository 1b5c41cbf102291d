// Tests panics and traps of the module, with the calls for that in the module built by `harness/faults.mjs`.
import init, * as gpu from "/target/faults/gpu.js";
import { check } from "./check.js";
import { kinds } from "./data.js";

const ready = init();

/** Returns the error that `work` throws or rejects with. */
const errorOf = (work) => Promise.resolve().then(work).then(() => null, (error) => error);

/** A call that panics or traps ends all pending calls, and a new instance works. */
async function ends(kind, inPromise, isCoded) {
  await ready;
  const codec = await gpu.GpuCodec.open(false, true);
  const device = codec.device();
  const waiting = errorOf(() => codec.compressPages(kinds.text(1 << 20), 4096, gpu.Level.Fast));
  const error = await errorOf(() => gpu.failForTests(kind, inPromise));
  check(isCoded ? error?.code === "INTERNAL" : error instanceof WebAssembly.RuntimeError, `${error?.code} ${error}`);
  if (kind === "panic") check(error.message.includes("a test has it panic"), error.message);
  // Without a code in the error JavaScript must reset the module, as the package does.
  if (!isCoded) gpu.stop("it trapped");
  const other = await waiting;
  check(other?.code === "INTERNAL", `the other call: ${other}`);
  check((await device.lost).reason === "destroyed", "the device is open");
  const late = await errorOf(() => codec.compressPages(kinds.text(4096), 4096, gpu.Level.Fast));
  check(late?.code === "INTERNAL", `a late call: ${late}`);
  gpu.__wbg_reset_state();
  const next = await gpu.GpuCodec.open(false, true);
  const { packed, timing } = await next.compressPages(kinds.text(65536), 4096, gpu.Level.Fast);
  check(packed.length > 0 && timing.totalNs > 0, "after it");
  next.close();
}

addEventListener("unhandledrejection", (event) => {
  if (event.reason?.message === "Cannot invoke closure from previous WASM instance") event.preventDefault();
});

/** A device of the page is used without changes, and is not destroyed. */
async function usesThePagesDevice() {
  await ready;
  const adapter = await navigator.gpu.requestAdapter();
  const device = await adapter.requestDevice();
  let heard = 0;
  const handler = () => (heard += 1);
  device.onuncapturederror = handler;
  const codec = await gpu.GpuCodec.fromDevice(device);
  check(codec.device() === device, "another device");
  check(!Object.hasOwn(navigator.gpu, "requestAdapter") && !Object.hasOwn(device, "createBuffer"), "something was left behind");
  check(device.onuncapturederror === handler, "the page's handler was replaced");
  const bytes = kinds.text(3 * 4096);
  const { packed, table } = await codec.compressPages(bytes, 4096, gpu.Level.Fast);
  const { bytes: back } = await codec.decompressPages(packed, table, 4096, bytes.length, undefined, true);
  check(back.every((byte, i) => byte === bytes[i]), "content");
  device.pushErrorScope("validation");
  const call = codec.compressPages(bytes, 4096, gpu.Level.Fast);
  device.createBuffer({ size: 4, usage: 0xffff });
  await call;
  check((await device.popErrorScope()) instanceof GPUValidationError && heard === 0, "an error scope of the page around a call");
  const { inUse, pooled } = codec.memory;
  check(inUse > 0 && pooled > 0, `${inUse} bytes in use, ${pooled} in the pool`);
  codec.close();
  codec.free();
  const still = device.createBuffer({ size: 4, usage: GPUBufferUsage.COPY_DST });
  await device.queue.onSubmittedWorkDone();
  still.destroy();
  const lost = await Promise.race([device.lost, new Promise((resolve) => setTimeout(() => resolve(null), 50))]);
  check(lost === null, "the page's device was destroyed");
  device.destroy();
  await device.lost;
  const gone = await gpu.GpuCodec.fromDevice(device);
  const error = await errorOf(() => gone.compressPages(bytes, 4096, gpu.Level.Fast));
  check(error?.code === "DEVICE_LOST", `on a lost device: ${error}`);
  const none = await errorOf(() => gpu.GpuCodec.fromDevice({}));
  check(none?.code === "INVALID_ARGUMENT", `no device: ${none}`);
}

export const cases = [
  ["a panic in a promise", () => ends("panic", true, true)],
  ["a trap in a promise", () => ends("trap", true, true)],
  ["a panic in a call", () => ends("panic", false, true)],
  ["a trap in a call", () => ends("trap", false, false)],
  ["uses a device of the page", usesThePagesDevice],
];
