// Tests kernels of users on tensors.
import { check, same } from "./check.js";
import { fails } from "./tensor-arrays.js";
import { checkNear, numbers } from "./tensor-reference.js";

const SAXPY = `
struct Params { n: u32, factor: f32 }
override SIZE: u32 = 64;
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> y: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
@compute @workgroup_size(SIZE)
fn saxpy(@builtin(global_invocation_id) id: vec3u) {
  if (id.x < min(params.n, arrayLength(&x))) { y[id.x] += params.factor * x[id.x]; }
}`;

/** Launches kernels of a user, right ones and wrong ones. */
export async function checkKernels(gpu) {
  const n = 1003;
  const [x, y] = [numbers(n, 40, 2), numbers(n, 41, 2)];
  const [a, b] = [await gpu.tensor(x), await gpu.tensor(y)];
  const bindings = ["read", "read-write", "uniform"];
  const kernel = await gpu.compileKernel(SAXPY, { entry: "saxpy", bindings, overrides: { SIZE: 32 } });
  const params = new ArrayBuffer(8);
  new Uint32Array(params)[0] = n;
  new Float32Array(params)[1] = 0.5;
  gpu.launch(kernel, Math.ceil(n / 32), [a, b, params]);
  gpu.launch(kernel, [Math.ceil(n / 32), 1], [a, b, params]);
  await gpu.synchronize();
  checkNear(await b.read(), Array.from(x, (value, i) => y[i] + value), { relative: 1e-6, absolute: 1e-6 }, "saxpy, twice");
  const lengths = `
@group(0) @binding(0) var<storage, read> x: array<f32>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(1) fn main() { out[0] = f32(arrayLength(&x)); out[1] = x[0]; }`;
  const measure = await gpu.compileKernel(lengths, { bindings: bindings.slice(0, 2) });
  const out = gpu.empty([2]);
  gpu.launch(measure, 1, [a, out]);
  same(await out.read(), [n, x[0]], "arrayLength is that of the tensor");
  gpu.launch(measure, 1, [a.slice(0, 128, 131), out]);
  same(await out.read(), [3, x[128]], "a slice");
  for (const [code, work] of [
    ["INVALID_ARGUMENT", () => gpu.launch(measure, 1, [a.slice(0, 1), out])],
    ["INVALID_ARGUMENT", () => gpu.launch(measure, 1, [a])],
    ["INVALID_ARGUMENT", () => gpu.launch(measure, 1, [a, params])],
    ["INVALID_ARGUMENT", () => gpu.launch(measure, 1, [a, new Uint8Array(3)])],
    ["INVALID_ARGUMENT", () => gpu.launch(measure, 2 ** 20, [a, out])],
    ["INVALID_ARGUMENT", () => gpu.launch(measure, -1, [a, out])],
    ["INVALID_ARGUMENT", () => gpu.launch({}, 1, [])],
    ["INVALID_ARGUMENT", () => gpu.compileKernel(lengths, { bindings: ["write"] })],
    ["INVALID_ARGUMENT", () => gpu.compileKernel(lengths, {})],
    ["KERNEL_COMPILE", () => gpu.compileKernel(lengths, { bindings: ["read", "read-write"], entry: "other" })],
  ]) {
    await fails(work, code);
  }
  const wrong = lengths.replace("f32(arrayLength(&x))", "arrayLength(&x)");
  const error = await fails(() => gpu.compileKernel(wrong, { bindings: ["read", "read-write"] }), "KERNEL_COMPILE");
  check(/\b4:\d+: /.test(error.message), `no line and column: ${error.message}`);
  same(await out.read(), [3, x[128]], "after errors");
}
