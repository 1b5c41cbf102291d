// Tests the operations on arrays, which a device and a backend have, against plain loops.
import { PagepressError } from "/dist/tensor.js";
import { check, rejects, same } from "./check.js";
import * as reference from "./tensor-reference.js";

const { checkNear, checkSums, numbers } = reference;

/** Fails unless `work` throws or rejects with a `PagepressError` with this code; returns the error. */
export const fails = (work, code) => rejects(Promise.resolve().then(work), code, PagepressError);

/** Checks the results for various lengths, including 0 and 1, and for special values. */
export async function checkArrays(subject) {
  const inputs = Float32Array.of(0, -0, 1, -1, 0.5, 88, -88, 3e38, -3e38, 1e-30, NaN, Infinity, -Infinity);
  for (const [n, size] of [[0, 1], [1, 1], [3, 2], [1001, 4], [70_000, 4]]) {
    const [x, y] = [numbers(n, 1, size), numbers(n, 2, size)];
    if (n > 1000) x.set(inputs, 100);
    const [copyX, copyY] = [x.slice(), y.slice()];
    for (const [step, exact, tolerance] of n > 2000 ? reference.steps.slice(0, 8) : reference.steps) {
      const name = Array.isArray(step) ? step[0] : step;
      // WGSL does not define roots and logarithms outside their domains.
      const a = ["log", "log1p", "sqrt"].includes(name) ? x.map((value) => Math.abs(value) || 1) : x;
      const found = await subject.elementwise([step], a, reference.takesTwo(step) ? y : undefined);
      const wanted = Array.from(a, (value, i) => (Number.isNaN(value) ? NaN : exact(value, y[i])));
      checkNear(found, wanted, tolerance, `${name} of ${n}`);
    }
    same(x.map((value) => (Number.isNaN(value) ? 7 : value)), copyX.map((value) => (Number.isNaN(value) ? 7 : value)), "a");
    same(y, copyY, "b");
  }
  await checkNames(subject);
  for (const [rows, cols] of [[1, 1], [3, 2], [5, 7], [17, 64], [4, 1000], [2, 8193], [0, 5]]) {
    const a = numbers(rows * cols, 3, 50);
    checkNear(await subject.softmax(a, cols), reference.softmax(a, cols, false), reference.SOFTMAX, `softmax ${rows} x ${cols}`);
    checkNear(await subject.logSoftmax(a, cols), reference.softmax(a, cols, true), reference.LOG_SOFTMAX, `logSoftmax ${rows} x ${cols}`);
  }
  check((await subject.softmax(new Float32Array(0))).length === 0, "softmax of nothing");
  for (const [m, k, n] of [[1, 1, 1], [2, 3, 4], [5, 0, 3], [0, 3, 2], [1, 70, 1], [17, 33, 65], [64, 64, 64]]) {
    const [a, b] = [numbers(m * k, 4, 2), numbers(k * n, 5, 2)];
    checkSums(await subject.matmul(a, b, m, k, n), reference.matmul(a, b, m, k, n), reference.PRODUCTS, `matmul ${m} ${k} ${n}`);
  }
  await checkEpilogues(subject);
  for (const [size, kernelSize] of [[[1, 1], [1, 1]], [[10, 20], [3, 4]], [[5, 77], [5, 1]], [[40, 33], [7, 7]]]) {
    const [input, kernel] = [numbers(size[0] * size[1], 6, 2), numbers(kernelSize[0] * kernelSize[1], 7, 1)];
    const exact = reference.convolve2d(input, kernel, size, kernelSize);
    checkSums(await subject.convolve2d(input, kernel, size, kernelSize), exact, reference.PRODUCTS, `convolve2d ${size}`);
  }
  await checkReductions(subject);
}

/** Checks products followed by a bias, an activation and a residual, and by each alone. */
async function checkEpilogues(subject) {
  const [m, k, n] = [17, 33, 20];
  const [a, b] = [numbers(m * k, 14, 1), numbers(k * n, 15, 1)];
  const [bias, residual] = [numbers(n, 16, 1), numbers(m * n, 17, 1)];
  const products = reference.matmul(a, b, m, k, n);
  const activations = ["relu", "sigmoid", "tanh", "swish", "gelu", "geluTanh"];
  const all = [...activations.map((activation) => ({ bias, activation, residual })), { bias }, { residual }, { activation: "gelu" }, {}];
  for (const options of all) {
    const [, apply] = reference.steps.find(([name]) => name === options.activation) ?? [undefined, (x) => x];
    const exact = products.map(([sum, magnitude], i) => {
      const last = options.residual?.[i] ?? 0;
      return [apply(sum + (options.bias?.[i % n] ?? 0)) + last, magnitude + 1 + Math.abs(last)];
    });
    checkSums(await subject.matmul(a, b, m, k, n, options), exact, 5e-6, `matmul with ${Object.keys(options)} ${options.activation}`);
  }
}

/** Checks that each method applies the step of its name. */
async function checkNames(subject) {
  const [a, b] = [numbers(100, 8, 2), numbers(100, 9, 2)];
  for (const [name, ...args] of [["relu"], ["leakyRelu", 0.1], ["elu", 0.2], ["sigmoid"], ["tanh"], ["swish"], ["gelu"], ["clip", -1, 1], ["scale", 3]]) {
    same(await subject[name](a, ...args), await subject.elementwise([args.length > 0 ? [name, ...args] : name], a), name);
  }
  for (const name of ["add", "sub", "mul", "div"]) same(await subject[name](a, b), await subject.elementwise([name], a, b), name);
}

async function checkReductions(subject) {
  for (const n of [1, 3, 1000, 100_003]) {
    const [a, b] = [numbers(n, 10, 3), numbers(n, 11, 3)];
    for (const kind of ["sum", "max", "min", "sumOfSquares"]) {
      const [exact] = reference.reduce(kind, a, [n], [0]);
      checkSums([await subject.reduce(kind, a)], [exact], reference.SUMS, `${kind} of ${n}`);
      if (kind !== "sumOfSquares") check((await subject[kind](a)) === (await subject.reduce(kind, a)), kind);
    }
    const products = a.reduce(([sum, all], x, i) => [sum + x * b[i], all + Math.abs(x * b[i])], [0, 0]);
    checkSums([await subject.dot(a, b)], [products], reference.SUMS, `dot of ${n}`);
  }
  const shape = [3, 5, 4, 6];
  const a = numbers(360, 12, 3);
  for (const axes of [[], [0], [1], [3], [1, 2], [0, 2], [0, 1, 2, 3], [3, 1]]) {
    for (const kind of ["sum", "max", "min", "sumOfSquares"]) {
      const exact = reference.reduce(kind, a, shape, axes);
      checkSums(await subject.reduce(kind, a, shape, axes), exact, reference.SUMS, `${kind} over ${axes}`);
    }
  }
  const none = new Float32Array(0);
  same([await subject.sum(none), await subject.max(none), await subject.dot(none, none)], [0, -Infinity, 0], "of none");
  check(Number.isNaN(await subject.max(Float32Array.of(1, NaN, 3))), "NaN is the largest");
  check(Number.isNaN(await subject.min(Float32Array.of(1, NaN, 3))), "NaN is the smallest");
  const tile = numbers(143 * 7, 13, 3);
  checkSums([await subject.tiledSum2d(tile, 143, 7)], reference.reduce("sum", tile, [1001], [0]), reference.SUMS, "tiledSum2d");
  check((await subject.tiledMax2d(tile, 143, 7)) === Math.max(...tile), "tiledMax2d");
  check((await subject.tiledMin2d(tile, 143, 7)) === Math.min(...tile), "tiledMin2d");
}

/** Checks the error codes of wrong calls on arrays. */
export async function checkArrayErrors(subject) {
  const a = Float32Array.of(1, 2, 3, 4);
  for (const [code, work] of [
    ["LENGTH_MISMATCH", () => subject.add(a, a.subarray(1))],
    ["LENGTH_MISMATCH", () => subject.add(a, a.subarray(3))],
    ["LENGTH_MISMATCH", () => subject.dot(a, a.subarray(1))],
    ["LENGTH_MISMATCH", () => subject.matmul(a, a, 2, 3, 2)],
    ["LENGTH_MISMATCH", () => subject.matmul(a, a, 2, 2, 2, { bias: a })],
    ["LENGTH_MISMATCH", () => subject.matmul(a, a, 2, 2, 2, { residual: a.subarray(1) })],
    ["INVALID_ARGUMENT", () => subject.matmul(a, a, 2, 2, 2, { activation: "scale" })],
    ["LENGTH_MISMATCH", () => subject.convolve2d(a, a, [2, 3], [2, 2])],
    ["LENGTH_MISMATCH", () => subject.tiledSum2d(a, 3, 2)],
    ["INVALID_ARGUMENT", () => subject.convolve2d(a, a, [1, 4], [2, 2])],
    ["INVALID_ARGUMENT", () => subject.softmax(a, 3)],
    ["INVALID_ARGUMENT", () => subject.softmax(a, -1)],
    ["INVALID_ARGUMENT", () => subject.elementwise(["add"], a)],
    ["INVALID_ARGUMENT", () => subject.elementwise(["no"], a)],
    ["INVALID_ARGUMENT", () => subject.elementwise(["relu tanh"], a)],
    ["INVALID_ARGUMENT", () => subject.elementwise([["clip", 1]], a)],
    ["INVALID_ARGUMENT", () => subject.elementwise("relu", a)],
    ["INVALID_ARGUMENT", () => subject.relu([1, 2])],
    ["INVALID_ARGUMENT", () => subject.relu(new Float64Array(2))],
    ["INVALID_ARGUMENT", () => subject.reduce("mean", a)],
    ["INVALID_ARGUMENT", () => subject.reduce("sum", a, [4], [1])],
    ["INVALID_ARGUMENT", () => subject.reduce("sum", a, [2, 2], [1, 1])],
  ]) {
    await fails(work, code);
  }
  same(await subject.relu(a), a, "after errors");
}
