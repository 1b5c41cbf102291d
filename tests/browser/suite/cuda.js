// Tests kernels in CUDA C: translated without a GPU, and run on one.
import { listCudaKernels, PagepressError, translateCuda } from "/dist/cuda.js";
import { GpuDevice } from "/dist/tensor.js";
import { check, rejects, same } from "./check.js";

const SAXPY = `
__global__ void saxpy(int n, float a, const float* __restrict__ x, float* y) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
int main() { saxpy<<<4, 256>>>(1000, 2.0f, x, y); }`;

/** Adds all numbers of a block: shared memory, an early return, a template, a structure, a macro. */
const REDUCTION = `
struct Range { unsigned first; unsigned length; };
template <int N> __global__ void sum(Range range, const float* x, float* sums, bool negate) {
    __shared__ float part[N];
    unsigned i = threadIdx.x;
    unsigned at = blockIdx.x * N + i;
    part[i] = at < range.length ? x[range.first + at] : 0.0f;
    __syncthreads();
    for (int half = N / 2; half > 0; half /= 2) {
        if (i < half) part[i] += part[i + half];
        __syncthreads();
    }
    if (i > 0) return;
    sums[blockIdx.x] = negate ? -part[0] : SCALE * part[0];
}`;

/** Multiples in 64-bit integers. */
const LONGS = `
__global__ void multiples(int n, long step, unsigned long long mask, long long* out) {
    if (threadIdx.x < n) out[threadIdx.x] = threadIdx.x * step & mask;
}`;

/** Squares in 16-bit floats. */
const HALVES = `
#include <cuda_fp16.h>
__global__ void squares(const float* x, float* y) {
    half value = __float2half(x[threadIdx.x]);
    y[threadIdx.x] = __half2float(__hmul(value, value));
}`;

async function translates() {
  const marks = { wgsl: "@compute", ptx: ".visible .entry saxpy", msl: "kernel void", hlsl: "[numthreads(64, 1, 1)]" };
  for (const [target, mark] of Object.entries(marks)) {
    const { text, bytes } = await translateCuda(SAXPY, { target, block: 64 });
    check(text.includes(mark) && bytes.length === new TextEncoder().encode(text).length, `${target}: ${text}`);
  }
  const spirv = await translateCuda(SAXPY, { target: "spirv" });
  check(spirv.text === "" && new DataView(spirv.bytes.buffer).getUint32(0, true) === 0x07230203, "SPIR-V");
  const { parameters, uniform, entry, block, notes } = await translateCuda(SAXPY, { block: [64, 2] });
  check(entry === "saxpy" && String(block) === "64,2,1", `${entry} ${block}`);
  same(parameters.map(({ name, kind }) => `${name} ${kind}`), ["n i32", "a f32", "x read", "y read-write"], "parameters");
  check(uniform.binding === 2 && uniform.byteLength >= 8, JSON.stringify(uniform));
  check(notes.some((note) => /^6:\d+: /.test(note)), JSON.stringify(notes));
}

async function translatesHalves() {
  const { text } = await translateCuda(HALVES, { float16: true });
  check(text.includes("enable f16;"), text);
  const error = await rejects(translateCuda(HALVES), "KERNEL_COMPILE", PagepressError);
  check(error.line === 4 && error.message.includes("float16"), error.message);
}

async function translatesLongs() {
  const { text, parameters, uniform } = await translateCuda(LONGS, { target: "msl", int64: true });
  check(text.includes("long"), text);
  same(parameters.map(({ name, kind }) => `${name} ${kind}`), ["n i32", "step i64", "mask u64", "out read-write"], "parameters");
  same(parameters.slice(0, 3).map(({ offset, byteLength }) => `${offset} ${byteLength}`), ["0 4", "8 8", "16 8"], "offsets");
  check(uniform.byteLength === 24, JSON.stringify(uniform));
  const error = await rejects(translateCuda(LONGS), "KERNEL_COMPILE", PagepressError);
  check(error.line === 2 && error.message.includes("int64"), error.message);
}

async function listsKernels() {
  const [saxpy, sum] = await listCudaKernels(SAXPY + REDUCTION);
  check(saxpy.name === "saxpy" && saxpy.line === 2 && saxpy.template.length === 0, JSON.stringify(saxpy));
  check(sum.name === "sum" && String(sum.template) === "N", JSON.stringify(sum));
  const error = await rejects(translateCuda(SAXPY + REDUCTION), "INVALID_ARGUMENT", PagepressError);
  check(error.message.includes("saxpy; sum<N>"), error.message);
}

async function reportsErrors() {
  const wrong = SAXPY.replace("a * x[i]", "a * z[i]");
  const error = await rejects(translateCuda(wrong), "KERNEL_COMPILE", PagepressError);
  check(/: 4:\d+: .*z/.test(error.message), error.message);
  const line = "    if (i < n) y[i] = a * z[i] + y[i];";
  check(error.line === 4 && error.column === line.indexOf("z") + 1, `${error.line}:${error.column}`);
  check(error.message.endsWith(`\n${line}\n${" ".repeat(line.indexOf("z"))}^`), error.message);
  const tabbed = await rejects(translateCuda("\t/* \u{1f600} */ __global__ void f(double *x) {}"), "KERNEL_COMPILE", PagepressError);
  check(tabbed.message.endsWith(`\n\t${" ".repeat(tabbed.column - 2)}^`), tabbed.message);
  check(!("line" in (await rejects(translateCuda("int main() {}"), "KERNEL_COMPILE", PagepressError))), "a line without a place");
  for (const source of [SAXPY.replace("float a", "double a"), "__global__ void f(int n) { asm(\"\"); }", "int main() {}", "}{", ""]) {
    await rejects(translateCuda(source), "KERNEL_COMPILE", PagepressError);
  }
  check((await translateCuda(SAXPY.replace("float a", "double a"), { narrowDoubles: true })).text.length > 0, "narrowed");
  for (const options of [{ target: "glsl" }, { block: 1.5 }, { block: [1, 2, 3, 4] }, { sharedBytes: -1 }, { entri: "saxpy" }, { entry: 5 }]) {
    await rejects(translateCuda(SAXPY, options), "INVALID_ARGUMENT", PagepressError);
  }
  for (const options of [{ block: 2000 }, { entry: "other" }, { defines: { "1X": 2 } }]) {
    const error = await rejects(translateCuda(SAXPY, options), "KERNEL_COMPILE", PagepressError);
    check(!("line" in error) && !error.message.includes("\n"), error.message);
  }
  await rejects(translateCuda(5), "INVALID_ARGUMENT", PagepressError);
}

let opened;
/** Returns the device of all cases, opened on first use. */
const device = () => (opened ??= GpuDevice.open({ allowSoftware: true }));

async function runsSaxpy() {
  const gpu = await device();
  const numbers = (factor) => Float32Array.from({ length: 1000 }, (_, i) => factor * i);
  const [x, y] = [await gpu.tensor(numbers(1)), await gpu.tensor(numbers(2))];
  const kernel = await gpu.compileCuda(SAXPY);
  check(kernel.entry === "saxpy" && kernel.wgsl.includes("@compute"), kernel.entry);
  kernel.launch(4, [900, 3, x, y]);
  same(await y.read(), numbers(1).map((value, i) => (i < 900 ? 5 : 2) * value), "saxpy");
  for (const args of [[900, 3, x], [900, 3, 4, y], [900, x, x, y], [9.5, 3, x, y], [2 ** 31, 3, x, y]]) {
    let code;
    try {
      kernel.launch(4, args);
    } catch (error) {
      ({ code } = error);
    }
    check(code === "INVALID_ARGUMENT", `${code} for ${args.map(String)}`);
  }
  await rejects(gpu.compileCuda(SAXPY, { blocks: 5 }), "INVALID_ARGUMENT", PagepressError);
}

async function runsTemplates() {
  const gpu = await device();
  const x = await gpu.tensor(Float32Array.from({ length: 500 }, (_, i) => i));
  const sums = await gpu.zeros([2]);
  const kernel = await gpu.compileCuda(REDUCTION, { entry: "sum<128>", block: 128, defines: { SCALE: 2 } });
  const expected = (first, from, to) => Array.from({ length: Math.max(to - from, 0) }, (_, i) => first + from + i).reduce((a, b) => a + b, 0);
  kernel.launch(2, [Uint32Array.of(100, 200), x, sums, false]);
  same(await sums.read(), [2 * expected(100, 0, 128), 2 * expected(100, 128, 200)], "sums");
  gpu.launch(kernel.kernel, 2, kernel.arguments([Uint32Array.of(0, 10), x, sums, true]));
  same((await sums.read()).map((value) => value + 0), [-45, 0], "negated");
}

/** Software adapters of Chromium have no 16-bit floats. */
async function runsHalves() {
  const gpu = await device();
  if (!gpu.capabilities.float16) return void (await rejects(gpu.compileCuda(HALVES), "KERNEL_COMPILE", PagepressError));
  const x = await gpu.tensor(Float32Array.of(1, -2, 0.5, 300));
  const y = await gpu.zeros([4]);
  (await gpu.compileCuda(HALVES, { block: 4 })).launch(1, [x, y]);
  same(await y.read(), [1, 4, 0.25, Infinity], "squares");
}

const translations = [
  ["translates to all languages", translates],
  ["allows half where the device has it", translatesHalves],
  ["translates 64-bit integers for native devices", translatesLongs],
  ["lists kernels", listsKernels],
  ["reports errors at their lines", reportsErrors],
];

export const cases = [...translations, ["runs a kernel", runsSaxpy], ["runs a template with shared memory", runsTemplates], ["runs half where the device has it", runsHalves]];
export { translations };
