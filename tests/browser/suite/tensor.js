// Tests every tensor operation on a GPU against plain loops, on arrays and on tensors that stay in GPU memory.
import { createCompressor } from "/dist/index.js";
import { GpuBackend, GpuDevice } from "/dist/tensor.js";
import { check, same } from "./check.js";
import { missingOf } from "./compiled.js";
import { checkArrayErrors, checkArrays, fails } from "./tensor-arrays.js";
import { checkBatchErrors, checkBatches } from "./tensor-batch.js";
import { checkKernels } from "./tensor-kernels.js";
import { checkLayerCalls, checkLlama } from "./tensor-layer.js";
import { checkModelParts, checkModelPartsOfTensors } from "./tensor-model.js";
import { checkOrder } from "./tensor-order.js";
import * as reference from "./tensor-reference.js";

const { checkNear, checkSums, numbers } = reference;

let opened;
/** Returns the device of all cases, opened on first use. */
const device = () => (opened ??= GpuDevice.open({ allowSoftware: true }));

async function describesDevices() {
  const gpu = await device();
  check(gpu.info.engine === "webgpu" && gpu.info.software && gpu.info.name.length > 0, JSON.stringify(gpu.info));
  check(gpu.capabilities.maxBindingBytes >= 2 ** 27 && gpu.capabilities.maxGrid >= 65_535, JSON.stringify(gpu.capabilities));
  check(gpu.raw.constructor.name === "GPUDevice", "raw");
  check((await GpuDevice.isAvailable()) === false, "a software adapter does not count");
  const [adapter] = await GpuDevice.listAdapters();
  check(adapter.software && adapter.limits.maxBufferSize > 0, JSON.stringify(adapter));
  await fails(() => GpuDevice.open(), "BACKEND_UNAVAILABLE");
  await fails(() => GpuDevice.open({ powerPreference: "much" }), "INVALID_ARGUMENT");
  await fails(() => GpuDevice.open({ device: {} }), "INVALID_ARGUMENT");
}

/** Reads downloads of several parts, of which the last is short: f32, and bits of an odd number of elements. */
async function readsLargeTensors() {
  const gpu = await device();
  const n = 4_700_003;
  const values = Float32Array.from({ length: n }, (_, i) => i % 251);
  const a = await gpu.tensor(values);
  same(await a.read(), values, "f32");
  same(await a.slice(0, n - 7, n).read(), values.slice(-7), "the end alone");
  const found = await (await a.cast("bfloat16")).readBits();
  // Integers below 256 are bfloat16.
  const words = new Uint32Array(values.buffer);
  check(found.length === n && found.every((bits, i) => bits === words[i] >>> 16), "bits");
}

async function keepsTensors() {
  const gpu = await device();
  const values = numbers(6 * 20, 20, 2);
  const a = await gpu.tensor(values, [6, 20]);
  check(a.length === 120 && String(a.shape) === "6,20" && Object.isFrozen(a.shape), "shape");
  same(await a.read(), values, "read");
  const changed = values.slice();
  const early = gpu.tensor(changed);
  changed.fill(7);
  same(await (await early).read(), values, "an array is read before the call returns");
  const square = await a.matmul(a.transpose());
  const transposed = Float32Array.from(values, (_, i) => values[(i % 6) * 20 + Math.floor(i / 6)]);
  checkSums(await square.read(), reference.matmul(values, transposed, 6, 20, 6), reference.PRODUCTS, "a aᵀ");
  const bias = await gpu.tensor(numbers(6, 21, 1), [6]);
  const inSteps = await (await square.combine(["add", "relu"], bias)).add(square);
  const atOnce = await a.matmul(a.transpose(), { bias, activation: "relu", residual: square });
  checkNear(await atOnce.read(), await inSteps.read(), { relative: 1e-6, absolute: 1e-6 }, "an epilogue");
  const plus = await a.matmul(a.transpose(), { residual: square });
  checkNear(await plus.read(), await (await square.scale(2)).read(), { relative: 1e-6, absolute: 1e-6 }, "a residual");
  const chain = await (await square.scale(0.5)).apply(["relu", ["offset", 1], "sqrt", "abs", ["clip", 0, 3]]);
  const exact = Array.from(await square.read(), (x) => Math.min(Math.sqrt(Math.max(Math.fround(x * 0.5), 0) + 1), 3));
  checkNear(await chain.read(), exact, { relative: 1e-6, absolute: 0 }, "a chain");
  const means = await (await a.sum([1])).scale(1 / 20);
  check(String(means.shape) === "6,1", "reduced axes are ones");
  const centred = await a.sub(means);
  const sums = await (await centred.sum([1])).read();
  check(sums.every((x) => Math.abs(x) < 1e-4), "rows less their means");
  checkNear(await (await a.softmax()).read(), reference.softmax(values, 20, false), reference.SOFTMAX, "softmax");
  checkNear(await (await a.logSoftmax()).read(), reference.softmax(values, 20, true), reference.LOG_SOFTMAX, "logSoftmax");
  const total = await a.sum();
  check(total.shape.length === 0 && total.length === 1, "a tensor without axes");
  checkSums(await total.read(), reference.reduce("sum", values, [120], [0]), reference.SUMS, "sum");
  check((await (await a.max()).read())[0] === Math.max(...values), "max");
  check((await (await a.min([0, 1])).read())[0] === Math.min(...values), "min");
  checkSums(await (await a.dot(a)).read(), reference.reduce("sumOfSquares", values, [120], [0]), reference.SUMS, "dot");
  const kernel = await gpu.tensor(values.subarray(0, 6), [2, 3]);
  const convolved = reference.convolve2d(values, values.subarray(0, 6), [6, 20], [2, 3]);
  checkSums(await (await a.convolve2d(kernel)).read(), convolved, reference.PRODUCTS, "convolve2d");
  for (const name of ["relu", "sigmoid", "tanh", "swish", "gelu"]) same(await (await a[name]()).read(), await gpu[name](values), name);
  same(await (await a.leakyRelu(0.1)).read(), await gpu.leakyRelu(values, 0.1), "leakyRelu");
  same(await (await a.elu(0.1)).read(), await gpu.elu(values, 0.1), "elu");
  for (const name of ["add", "mul", "div"]) same(await (await a[name](a)).read(), await gpu[name](values, values), name);
  const zeros = await gpu.zeros([3, 70]);
  same(await zeros.read(), new Float32Array(210), "zeros");
  same(await (await gpu.full([], 5)).read(), [5], "full, without axes");
  same(await (await gpu.zeros([0, 4])).read(), [], "nothing");
}

async function looksAtViews() {
  const gpu = await device();
  const a = await gpu.tensor(Float32Array.from({ length: 24 }, (_, i) => i), [2, 3, 4]);
  const view = a.slice(1, 1, 3).slice(2, 2);
  check(String(view.shape) === "2,2,2" && view.offset === 6 && String(view.strides) === "12,4,1", String(view.strides));
  same(await view.read(), [6, 7, 10, 11, 18, 19, 22, 23], "slices");
  same(await a.permute([2, 0, 1]).slice(0, 0, 1).read(), [0, 4, 8, 12, 16, 20], "permute");
  same(await a.transpose(0, 2).slice(0, 3).read(), [3, 15, 7, 19, 11, 23], "transpose");
  same(await a.reshape([4, 6]).slice(0, 3).read(), [18, 19, 20, 21, 22, 23], "reshape");
  const row = a.slice(0, 0, 1).slice(1, 0, 1).reshape([4]);
  same(await row.broadcastTo([2, 4]).read(), [0, 1, 2, 3, 0, 1, 2, 3], "broadcastTo");
  same(await (await a.add(row)).slice(0, 1).slice(1, 2).read(), [20, 22, 24, 26], "shapes extend to each other");
  const turned = a.transpose(0, 2);
  same(await (await turned.softmax()).read(), await (await (await turned.contiguous()).softmax()).read(), "softmax of a view");
  const copy = await view.contiguous();
  check(copy.offset === 0, "contiguous");
  same(await copy.reshape([8]).read(), await view.read(), "contiguous");
  a.dispose();
  same(await view.read(), await copy.read(), "views outlive their tensor");
}

async function namesErrors() {
  const gpu = await device();
  await checkArrayErrors(gpu);
  const a = await gpu.tensor(new Float32Array(6), [2, 3]);
  const error = await fails(() => a.add(a.reshape([3, 2])), "SHAPE_MISMATCH");
  check(error.message.includes("[2, 3] and [3, 2]"), error.message);
  for (const [code, work] of [
    ["SHAPE_MISMATCH", () => a.matmul(a)],
    ["SHAPE_MISMATCH", () => a.matmul(a.transpose(), { bias: a })],
    ["SHAPE_MISMATCH", () => a.matmul(a.transpose(), { residual: a })],
    ["INVALID_ARGUMENT", () => a.matmul(a.transpose(), { activation: "scale" })],
    ["SHAPE_MISMATCH", () => a.dot(a.transpose())],
    ["SHAPE_MISMATCH", () => a.reshape([5])],
    ["SHAPE_MISMATCH", () => a.transpose().reshape([6])],
    ["SHAPE_MISMATCH", () => a.broadcastTo([3, 3])],
    ["SHAPE_MISMATCH", () => a.slice(0, 0, 1).reshape([3]).convolve2d(a)],
    ["LENGTH_MISMATCH", () => gpu.tensor(new Float32Array(5), [2, 3])],
    ["INVALID_ARGUMENT", () => gpu.tensor(new Float32Array(1), [1, 1, 1, 1, 1, 1, 1, 1, 1])],
    ["INVALID_ARGUMENT", () => gpu.tensor(new Float32Array(1), [2 ** 31, 2 ** 31])],
    ["INVALID_ARGUMENT", () => gpu.tensor(new Float32Array(1), [-1])],
    ["INVALID_ARGUMENT", () => gpu.tensor([1, 2, 3])],
    ["INVALID_ARGUMENT", () => gpu.empty([2 ** 29])],
    ["INVALID_ARGUMENT", () => gpu.matmul(new Float32Array(1), new Float32Array(1), 2 ** 31, 2 ** 31, 2)],
    ["INVALID_ARGUMENT", () => a.slice(0, 1, 3)],
    ["INVALID_ARGUMENT", () => a.slice(2, 0, 1)],
    ["INVALID_ARGUMENT", () => a.permute([0, 0])],
    ["INVALID_ARGUMENT", () => a.transpose(0, 2)],
    ["INVALID_ARGUMENT", () => a.sum([2])],
    ["INVALID_ARGUMENT", () => a.reduce("dot")],
    ["INVALID_ARGUMENT", () => a.apply(["add"])],
    ["INVALID_ARGUMENT", () => a.add({})],
    ["INVALID_ARGUMENT", () => a.add(null)],
  ]) {
    await fails(work, code);
  }
  same(await a.read(), new Float32Array(6), "after errors");
}

async function refusesOtherDevices() {
  const [here, there] = [await device(), await GpuDevice.open({ allowSoftware: true })];
  const [a, b] = [await here.tensor(Float32Array.of(1, 2, 3, 4), [2, 2]), await there.tensor(new Float32Array(4).fill(10), [2, 2])];
  const wgsl = `
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn main() { out[0] = 7.0; }`;
  const kernel = await there.compileKernel(wgsl, { bindings: ["read-write"] });
  const batch = here.batch();
  for (const work of [
    () => a.add(b),
    () => a.matmul(b),
    () => a.matmul(a, { residual: b }),
    () => a.dot(b),
    () => a.convolve2d(b),
    () => here.launch(kernel, 1, [a]),
    () => there.launch(kernel, 1, [a]),
    () => batch.relu(batch.tensor(b)) && batch.execute(),
  ]) {
    const error = await fails(work, "INVALID_ARGUMENT");
    check(error.message.includes("another device"), error.message);
  }
  same(await a.read(), [1, 2, 3, 4], "of this device");
  same(await b.read(), [10, 10, 10, 10], "of the other");
  there.dispose();
}

async function disposes() {
  const gpu = await GpuDevice.open({ allowSoftware: true });
  const a = await gpu.tensor(Float32Array.of(1, -2));
  const pending = a.relu();
  a.dispose();
  a.dispose();
  same(await (await pending).read(), [1, 0], "what was submitted before");
  check(a.isDisposed && String(a.shape) === "2", "what is left");
  await fails(() => a.read(), "DISPOSED");
  await fails(() => a.relu(), "DISPOSED");
  await fails(() => a.transpose(0, 0), "DISPOSED");
  const b = await gpu.tensor(Float32Array.of(1, 2));
  await fails(() => b.add(a), "DISPOSED");
  if (Symbol.dispose) {
    b[Symbol.dispose]();
    check(b.isDisposed, "Symbol.dispose");
  }
  const c = await gpu.tensor(Float32Array.of(1, 2));
  gpu.dispose();
  gpu.dispose();
  check(gpu.isDisposed && gpu.raw === null, "the device");
  await fails(() => gpu.relu(Float32Array.of(1)), "DISPOSED");
  await fails(() => gpu.tensor(Float32Array.of(1)), "DISPOSED");
  await fails(() => c.read(), "DEVICE_LOST");
}

async function losesDevices() {
  const gpu = await GpuDevice.open({ allowSoftware: true });
  const a = await gpu.tensor(Float32Array.of(1, 2));
  same(await a.read(), [1, 2], "before");
  gpu.raw.destroy();
  await gpu.raw.lost;
  await fails(() => a.read(), "DEVICE_LOST");
  await fails(() => gpu.relu(Float32Array.of(1)), "DEVICE_LOST");
  await fails(() => gpu.compileKernel("@compute @workgroup_size(1) fn main() {}", { bindings: [] }), "DEVICE_LOST");
  const backend = new GpuBackend({ device: gpu });
  await fails(() => backend.relu(Float32Array.of(1)), "DEVICE_LOST");
  same(await (await device()).relu(Float32Array.of(-1, 1)), [0, 1], "another device goes on");
}

async function sharesDevices() {
  const adapter = await navigator.gpu.requestAdapter();
  const raw = await adapter.requestDevice();
  const heard = [];
  raw.onuncapturederror = (event) => heard.push(event.error.message);
  const gpu = await GpuDevice.open({ device: raw });
  check(gpu.raw === raw && Object.keys(navigator.gpu).length === 0, "the device is the page's own");
  check((await navigator.gpu.requestAdapter()).constructor.name === "GPUAdapter", "the browser's function is back");
  const a = await (await gpu.tensor(Float32Array.of(1, -2, 3))).relu();
  same(await a.read(), [1, 0, 3], "relu");
  const { buffer, offset } = a.slice(0, 1);
  const staging = raw.createBuffer({ size: 8, usage: GPUBufferUsage.MAP_READ | GPUBufferUsage.COPY_DST });
  const encoder = raw.createCommandEncoder();
  encoder.copyBufferToBuffer(buffer, 4 * offset, staging, 0, 8);
  raw.queue.submit([encoder.finish()]);
  await staging.mapAsync(GPUMapMode.READ);
  same(new Float32Array(staging.getMappedRange()), [0, 3], "the buffer");
  const own = raw.createBuffer({ size: 32, usage: GPUBufferUsage.STORAGE | GPUBufferUsage.COPY_DST | GPUBufferUsage.COPY_SRC });
  raw.queue.writeBuffer(own, 0, Float32Array.of(1, -2, 3, -4, 5, -6));
  const lent = gpu.tensorFromBuffer(own, [2, 3]);
  check(lent.buffer === own && String(lent.shape) === "2,3", "a tensor in a buffer of the page");
  const positive = await lent.relu();
  same(await positive.read(), [1, 0, 3, 0, 5, 0], "relu of it");
  lent.dispose();
  raw.queue.writeBuffer(own, 0, Float32Array.of(7));
  same(await gpu.tensorFromBuffer(own, [1]).read(), [7], "the buffer outlives its tensor");
  await fails(() => gpu.tensorFromBuffer(own, [3, 3]), "LENGTH_MISMATCH");
  await fails(() => gpu.tensorFromBuffer({}, [1]), "INVALID_ARGUMENT");
  await fails(() => gpu.tensorFromBuffer(staging, [1]), "INVALID_ARGUMENT");
  raw.createBuffer({ size: 4, usage: 0xffff });
  await gpu.synchronize().catch(() => undefined);
  check(heard.length === 1, "the page still hears of errors");
  gpu.dispose();
  const state = await Promise.race([raw.lost, Promise.resolve("open")]);
  check(state === "open", "dispose leaves the page's device open");
  raw.destroy();
  const compressor = await createCompressor({ backend: "webgpu", allowSoftware: true });
  const beside = await GpuDevice.open({ device: compressor.device });
  same(await beside.relu(Float32Array.of(-1, 1)), [0, 1], "on the device of a compressor");
  await compressor.dispose();
}

async function worksForBackends() {
  const backend = new GpuBackend({ device: await device() });
  check(backend.lastBackend === null, "nothing ran");
  await checkArrays(backend);
  check(backend.lastBackend.engine === "webgpu" && backend.lastBackend.device.length > 0, JSON.stringify(backend.lastBackend));
  await checkArrayErrors(backend);
  await checkModelParts(backend);
  backend.dispose();
  await fails(() => backend.relu(Float32Array.of(1)), "DISPOSED");
  await fails(() => new GpuBackend({ device: {} }), "INVALID_ARGUMENT");
}

async function goesWithoutGpu() {
  check((await GpuDevice.isAvailable()) === false && (await GpuDevice.listAdapters()).length === 0, "no GPU");
  const error = await fails(() => GpuDevice.open({ allowSoftware: true }), "BACKEND_UNAVAILABLE");
  check(error.message.includes("adapter"), error.message);
  const backend = new GpuBackend();
  const n = 256;
  const a = numbers(n * n, 60, 1);
  const both = [backend.matmul(a, a, n, n, n), backend.sum(a)];
  const [product] = await Promise.all(both);
  checkSums(product.subarray(0, 50), reference.matmul(a.subarray(0, n), a, 1, n, n).slice(0, 50), reference.PRODUCTS, "matmul");
  check(backend.lastBackend.engine === "cpu" && backend.lastBackend.reason.length > 0, JSON.stringify(backend.lastBackend));
  await checkArrays(backend);
  await checkArrayErrors(backend);
  await checkModelParts(backend);
}

/** Converts tensors to 16 bits and back, and computes with them. */
async function halvesConvert() {
  const gpu = await device();
  const values = Float32Array.of(1, -2.5, 65504, 65520, 2 ** -24, 0.1, -Infinity);
  const wide = await gpu.tensor(values);
  check(wide.dtype === "float32", wide.dtype);
  for (const [dtype, bits, read] of [
    ["float16", [0x3c00, 0xc100, 0x7bff, 0x7c00, 1, 0x2e66, 0xfc00], [1, -2.5, 65504, Infinity, 2 ** -24, 0.0999755859375, -Infinity]],
    ["bfloat16", [0x3f80, 0xc020, 0x4780, 0x4780, 0x3380, 0x3dcd, 0xff80], [1, -2.5, 65536, 65536, 2 ** -24, 0.10009765625, -Infinity]],
  ]) {
    const cast = await wide.cast(dtype);
    check(cast.dtype === dtype && cast.length === 7, cast.dtype);
    same(await cast.readBits(), bits, `bits of ${dtype}`);
    same(await cast.read(), read, dtype);
    const given = await gpu.tensor(Uint16Array.from(bits), [7], { dtype });
    same(await given.readBits(), bits, `bits given as ${dtype}`);
    same(await given.slice(0, 1, 6).readBits(), bits.slice(1, 6), "an odd slice");
    const half = await given.scale(0.5);
    check(half.dtype === dtype, half.dtype);
    same((await half.read()).slice(0, 2), [0.5, -1.25], "half of it");
    check((await given.combine(["add"], wide)).dtype === "float32", "mixed types");
    same(await (await cast.cast("float32")).read(), read, "back");
    await fails(() => gpu.tensor(Uint16Array.of(1, 2), [3], { dtype }), "LENGTH_MISMATCH");
    await fails(() => gpu.tensor(Float32Array.of(1), [1], { dtype }), "INVALID_ARGUMENT");
  }
  if (globalThis.Float16Array) {
    const given = await gpu.tensor(Float16Array.of(1.5, 2, -3), undefined, { dtype: "float16" });
    same(await given.read(), [1.5, 2, -3], "a Float16Array");
    await fails(() => gpu.tensor(Float16Array.of(1), [1], { dtype: "bfloat16" }), "INVALID_ARGUMENT");
  }
  await fails(() => wide.readBits(), "INVALID_ARGUMENT");
  await fails(() => wide.cast("float64"), "INVALID_ARGUMENT");
  await fails(() => gpu.tensor(values, [7], { dtype: "int8" }), "INVALID_ARGUMENT");
}

/** Kernels that no call here launches: one of an example, those for products of TF32, and one for views beyond a binding. */
const unused = /^tensor_(matmul_naive|matmul_tf32_warpgroup|round_tf32|unpack|copy)/;

function ranAllKernels(shaders) {
  const missing = missingOf(shaders.filter((name) => name.startsWith("tensor_") && !unused.test(name)));
  check(missing.length === 0, missing.join(", "));
}

const llama = (forms) =>
  forms.map(([form, kvType]) => [
    `a small Llama of ${form} gives the logits of PyTorch, with keys and values of ${kvType}`,
    async () => checkLlama(await device(), form, kvType),
  ]);

/** Cases of windows and workers. */
export const casesInWorkers = [
  ["devices describe themselves", describesDevices],
  ["tensors stay on the device", keepsTensors],
  ["large tensors are read in parts", readsLargeTensors],
  ["tensors of 16 bits convert and compute", halvesConvert],
  ["views are what they show", looksAtViews],
  ["wrong calls have typed errors", namesErrors],
  ["handles of another device are refused", refusesOtherDevices],
  ["what is disposed of is gone", disposes],
  ["a lost device is an error", losesDevices],
  ["batches run in one submission", async () => checkBatches(await device())],
  ["wrong batches have typed errors", async () => checkBatchErrors(await device())],
  ["kernels of users", async () => checkKernels(await device())],
  ["devices and buffers of the page", sharesDevices],
  ["work is in the order of its calls", async () => checkOrder(await device())],
];

/** All cases: windows also run those whose results do not depend on the scope. */
export const cases = [
  ...casesInWorkers,
  ["a backend on a device", worksForBackends],
  ["arrays go in and out", async () => checkArrays(await device())],
  ...llama([["f32", "float32"], ["f16", "float16"], ["q4_k", "float32"], ["q8_0", "float16"]]),
  ["layers keep their sequence, take updates and name errors", async () => checkLayerCalls(await device())],
  ["norms, rotary positions, attention and packed weights", async () => {
    await checkModelParts(await device());
    await checkModelPartsOfTensors(await device());
  }],
  // Chromium runs the Rust tests of tensors only by name.
  ["the cases above have run all kernels", ranAllKernels],
];

export const casesWithoutGpu = [["a backend goes on without WebGPU", goesWithoutGpu]];
