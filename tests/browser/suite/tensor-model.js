// Tests norms, rotary positions, attention and products with packed weights, on arrays and on tensors, against plain loops.
import { check, same } from "./check.js";
import { fails } from "./tensor-arrays.js";
import * as reference from "./tensor-reference.js";

const { checkNear, checkSums, numbers } = reference;

const NORM = { relative: 1e-4, absolute: 2e-6 };
const ATTENTION = { relative: 1e-4, absolute: 1e-5 };

/** Compares norms, rotary positions, attention and products with packed weights with plain loops. */
export async function checkModelParts(subject) {
  for (const [rows, cols] of [[1, 1], [3, 7], [5, 64], [2, 1000], [0, 4]]) {
    const [a, weight, bias] = [numbers(rows * cols, 14, 4), numbers(cols, 15, 2), numbers(cols, 16, 2)];
    for (const columns of [{}, { weight }, { bias }, { weight, bias }]) {
      for (const [kind, method] of [["layer", "layerNorm"], ["rms", "rmsNorm"]]) {
        const exact = reference.norm(kind, a, cols, columns.weight, columns.bias, 1e-3);
        checkNear(await subject[method](a, { cols, epsilon: 1e-3, ...columns }), exact, NORM, `${method} of ${rows} x ${cols}`);
      }
    }
  }
  // Enough queries for the kernel of many, and keys that several workgroups share.
  const [many, keys] = [[1, 64, 8], [1, 520, 8]];
  const [q, k, v] = [many, keys, keys].map((shape, i) => numbers(shape[1] * shape[2], 25 + i, 2));
  checkNear(await subject.attention(q, k, v, { shape: many, keyShape: keys }), reference.attention(q, k, v, many, keys, {}), ATTENTION, "attention of many");
  const row = numbers(100, 17, 2);
  checkNear(await subject.rmsNorm(row), reference.norm("rms", row, 100, undefined, undefined, 1e-5), NORM, "one row by default");
  for (const [shape, keyShape] of [[[1, 1, 4], [1, 1, 4]], [[4, 7, 16], [2, 9, 16]], [[2, 33, 64], [2, 33, 64]]]) {
    const length = (dims) => dims.reduce((product, dim) => product * dim, 1);
    const [q, k, v] = [numbers(length(shape), 18, 2), numbers(length(keyShape), 19, 2), numbers(length(keyShape), 20, 2)];
    for (const mask of [{}, { causal: true }, { causal: true, scale: 0.25 }, { causal: true, window: 3 }, { causal: true, window: 40 }]) {
      const exact = reference.attention(q, k, v, shape, keyShape, mask);
      const found = await subject.attention(q, k, v, { shape, keyShape, ...mask });
      checkNear(found, exact, ATTENTION, `attention ${shape} to ${keyShape}, ${JSON.stringify(mask)}`);
    }
  }
  for (const [shape, first] of [[[1, 1, 2], 0], [[3, 5, 6], 2], [[40, 3, 64], 900], [[0, 2, 4], 0]]) {
    const [rows, heads, elements] = shape;
    const [a, turns] = [numbers(rows * heads * elements, 24, 3), reference.rotaryTurns(10_000, elements, first + rows + 1)];
    const exact = reference.rotary(a, turns, shape, first);
    checkSums(await subject.rotary(a, turns, shape, first), exact, 1e-6, `rotary ${shape} from ${first}`);
    if (first === 0) checkSums(await subject.rotary(a, turns, shape), exact, 1e-6, `rotary ${shape}`);
  }
  for (const [kind, m, k, n] of [["f16", 3, 8, 5], ["f16", 33, 260, 70], ["q6k", 2, 256, 3], ["q6k", 5, 512, 65]]) {
    const [a, packed] = [numbers(m * k, 21, 1), reference.packedWeights(kind, n, k, 22)];
    const weights = reference.transposed(reference.unpacked(kind, packed), n, k);
    const exact = reference.matmul(a, weights, m, k, n);
    checkSums(await subject.matmulQuantized(a, packed, kind, m, k, n), exact, 1e-5, `${kind} ${m} ${k} ${n}`);
  }
  const a = numbers(512, 23, 1);
  for (const [code, work] of [
    ["INVALID_ARGUMENT", () => subject.layerNorm(a, { cols: 7 })],
    ["LENGTH_MISMATCH", () => subject.layerNorm(a, { cols: 8, weight: a.subarray(0, 7) })],
    ["INVALID_ARGUMENT", () => subject.rmsNorm([1])],
    ["LENGTH_MISMATCH", () => subject.rotary(a, a, [512])],
    ["SHAPE_MISMATCH", () => subject.rotary(a, a.subarray(0, 510), [512, 1, 1])],
    ["INVALID_ARGUMENT", () => subject.rotary(a, a, [32, 2, 8], 33)],
    ["INVALID_ARGUMENT", () => subject.rotary(a, a, [32, 2, 8], -1)],
    ["INVALID_ARGUMENT", () => subject.rotary(a, undefined, [32, 2, 8])],
    ["LENGTH_MISMATCH", () => subject.rotary(a, a.subarray(1), [32, 2, 8])],
    ["SHAPE_MISMATCH", () => subject.attention(a, a, a, { shape: [2, 16, 16], keyShape: [16, 16, 2] })],
    ["SHAPE_MISMATCH", () => subject.attention(a, a, a, { shape: [512] })],
    ["LENGTH_MISMATCH", () => subject.attention(a, a, a.subarray(1), { shape: [2, 16, 16] })],
    ["INVALID_ARGUMENT", () => subject.attention(a, a, a, { shape: [1, 1, 512] })],
    ["INVALID_ARGUMENT", () => subject.attention(a, a, a, { shape: [2, 16, 16], window: 3 })],
    ["INVALID_ARGUMENT", () => subject.attention(a, a, a, { shape: [2, 16, 16], causal: true, window: 0 })],
    ["INVALID_ARGUMENT", () => subject.attention(a, a, a, { shape: [2, 16, 16], causal: true, window: 1.5 })],
    ["LENGTH_MISMATCH", () => subject.matmulQuantized(a, new Uint8Array(209), "q6k", 2, 256, 1)],
    ["INVALID_ARGUMENT", () => subject.matmulQuantized(a, new Uint8Array(210), "q6k", 2, 255, 1)],
    ["INVALID_ARGUMENT", () => subject.matmulQuantized(a, new Uint8Array(210), "q7k", 2, 256, 1)],
  ]) {
    await fails(work, code);
  }
}

/** Checks that operations on tensors and on arrays return the same results. */
export async function checkModelPartsOfTensors(gpu) {
  const values = numbers(4 * 6 * 16, 50, 2);
  const a = await gpu.tensor(values, [24, 16]);
  const [weight, bias] = [await gpu.tensor(values.subarray(0, 16)), await gpu.tensor(values.subarray(16, 32))];
  const columns = { weight: values.subarray(0, 16), bias: values.subarray(16, 32) };
  same(await (await a.layerNorm({ weight, bias })).read(), await gpu.layerNorm(values, { cols: 16, ...columns }), "layerNorm");
  same(await (await a.rmsNorm({ bias })).read(), await gpu.rmsNorm(values, { cols: 16, bias: columns.bias }), "rmsNorm");
  same(await (await a.rmsNorm()).read(), await gpu.rmsNorm(values, { cols: 16 }), "rmsNorm without columns");
  const heads = a.reshape([6, 4, 16]).permute([1, 0, 2]);
  const [dense, shape] = [await heads.read(), [4, 6, 16]];
  const found = await heads.attention(heads, heads, { causal: true });
  check(String(found.shape) === "4,6,16", `attention gives ${found.shape}`);
  same(await found.read(), await gpu.attention(dense, dense, dense, { shape, causal: true }), "attention");
  const near = await heads.attention(heads, heads, { causal: true, window: 2 });
  same(await near.read(), await gpu.attention(dense, dense, dense, { shape, causal: true, window: 2 }), "attention with a window");
  const table = reference.rotaryTurns(10_000, 16, 9);
  const [rowsOfHeads, turns] = [a.reshape([6, 4, 16]), await gpu.tensor(table, [9, 16])];
  const turned = await rowsOfHeads.rotary(turns, 3);
  check(String(turned.shape) === "6,4,16", `rotary gives ${turned.shape}`);
  same(await turned.read(), await gpu.rotary(values, table, [6, 4, 16], 3), "rotary");
  await fails(() => rowsOfHeads.rotary(turns, 4), "INVALID_ARGUMENT");
  await fails(() => a.rotary(turns), "SHAPE_MISMATCH");
  const packed = reference.packedWeights("q6k", 3, 256, 51);
  const rows = await gpu.tensor(numbers(512, 52, 1), [2, 256]);
  const weights = await gpu.quantizedWeights(packed, "q6k", [3, 256]);
  const product = await rows.matmulQuantized(weights);
  check(String(product.shape) === "2,3", `matmulQuantized gives ${product.shape}`);
  same(await product.read(), await gpu.matmulQuantized(numbers(512, 52, 1), packed, "q6k", 2, 256, 3), "matmulQuantized");
  await fails(() => a.matmulQuantized(weights), "SHAPE_MISMATCH");
  await fails(() => a.layerNorm({ weight: a }), "SHAPE_MISMATCH");
  await fails(() => a.attention(a, a), "SHAPE_MISMATCH");
  weights.dispose();
  await fails(() => rows.matmulQuantized(weights), "DISPOSED");
}
