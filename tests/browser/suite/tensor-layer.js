// Tests layers of a transformer in GPU memory: the small Llama of tests/tensor/llama.rs against the logits of PyTorch, in the forms
// of weights and of the cache; low-rank updates, errors and disposal.
import { check, same } from "./check.js";
import { fails } from "./tensor-arrays.js";
import { checkNear } from "./tensor-reference.js";

const [HIDDEN, KV_WIDTH, WIDTH, VOCABULARY, N_LAYERS, N_TOKENS] = [256, 128, 512, 512, 3, 16];
const CONFIG = { hidden: HIDDEN, nHeads: 8, nKvHeads: 4, mlpWidth: WIDTH, maxPositions: N_TOKENS };
/** Tolerances of logits with keys and values of 32 and of 16 bits, as in tests/tensor/llama.rs. */
const WIDE = { relative: 1e-4, absolute: 1e-4 };
const NARROW = { relative: 4e-3, absolute: 4e-3 };
/** Matrices of a layer in the order of their seeds: outputs, inputs, and largest magnitude. */
const MATRICES = {
  q: [HIDDEN, HIDDEN, 0.125], k: [KV_WIDTH, HIDDEN, 0.125], v: [KV_WIDTH, HIDDEN, 0.0625], o: [HIDDEN, HIDDEN, 0.0625],
  gate: [WIDTH, HIDDEN, 0.0625], up: [WIDTH, HIDDEN, 0.0625], down: [HIDDEN, WIDTH, 0.0625],
};
/** Name of the packed form in the package, bytes and weights of a block, and bytes with fixed values. */
const PACKED = { q4_k: ["q4k", 144, 256, [[1, 0x0c], [3, 0x17]]], q8_0: ["q8_0", 34, 32, [[1, 0x14]]] };

/** Returns 32 pseudo-random bits, by the formula of tests/tensor/stored.rs. */
function hashed(seed, i) {
  let x = Math.imul(i, 0x9e3779b9) ^ Math.imul(seed, 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

function numbers(seed, n, scale) {
  return Float32Array.from({ length: n }, (_, i) => ((hashed(seed, i) >>> 8) - 2 ** 23) * (scale / 2 ** 23));
}

const columns = (seed) => numbers(seed, HIDDEN, 0.25).map((x) => 1 + x);

function packed(form, seed, n) {
  const [, blockBytes, blockLength, fixed] = PACKED[form];
  const bytes = Uint8Array.from({ length: (n / blockLength) * blockBytes }, (_, i) => hashed(seed, i) >>> 24);
  for (let start = 0; start < bytes.length; start += blockBytes) for (const [at, byte] of fixed) bytes[start + at] = byte;
  return bytes;
}

/** Returns a matrix as `createLayer` takes it. */
async function matrix(gpu, form, seed, [outputs, inputs, scale]) {
  if (form in PACKED) return { values: packed(form, seed, outputs * inputs), quantization: PACKED[form][0] };
  const values = numbers(seed, outputs * inputs, scale);
  if (form === "f32") return values;
  const rounded = await (await gpu.tensor(values)).cast("float16");
  return { values: await rounded.readBits(), dtype: "float16" };
}

async function weightsOf(gpu, form, layer) {
  const weights = { attentionNorm: columns(16 * layer + 7), mlpNorm: columns(16 * layer + 8) };
  for (const [i, [name, size]] of Object.entries(MATRICES).entries()) weights[name] = await matrix(gpu, form, 16 * layer + i, size);
  return weights;
}

/** Returns a function from normalised rows to logits. */
async function headOf(gpu, form) {
  const head = await matrix(gpu, form, 1002, [VOCABULARY, HIDDEN, 0.0625]);
  if (form in PACKED) {
    const weights = await gpu.quantizedWeights(head.values, head.quantization, [VOCABULARY, HIDDEN]);
    return (rows) => rows.matmulQuantized(weights);
  }
  const [values, options] = form === "f32" ? [head, {}] : [head.values, { dtype: head.dtype }];
  const tensor = (await gpu.tensor(values, [VOCABULARY, HIDDEN], options)).transpose();
  return (rows) => rows.matmul(tensor);
}

async function llama(gpu, form, kvType) {
  const layers = [];
  for (let i = 0; i < N_LAYERS; i += 1) layers.push(await gpu.createLayer({ ...CONFIG, kvType }, await weightsOf(gpu, form, i)));
  const [weight, head] = [await gpu.tensor(columns(1001)), await headOf(gpu, form)];
  const logits = async (embedded) => {
    let rows = await gpu.tensor(embedded, [embedded.length / HIDDEN, HIDDEN]);
    for (const layer of layers) rows = await layer.forward(rows);
    return (await head(await rows.rmsNorm({ weight }))).read();
  };
  return { layers, logits };
}

function embedding() {
  const table = numbers(1000, VOCABULARY * HIDDEN, 1);
  const tokens = Array.from({ length: N_TOKENS }, (_, i) => hashed(2000, i) % VOCABULARY);
  return Float32Array.from(tokens.flatMap((token) => Array.from(table.subarray(token * HIDDEN, (token + 1) * HIDDEN))));
}

/** Compares logits with those of PyTorch, of which there are some rows, and of these every 16th element. */
function checkLogits(fixture, form, logits, tolerance, what) {
  const lines = fixture.split("\n").map((line) => line.split(" ")).filter(([name]) => name === form);
  check(lines.length === 5, `${lines.length} rows of ${form}`);
  for (const [, position, ...exact] of lines) {
    const row = logits.subarray(position * VOCABULARY, (Number(position) + 1) * VOCABULARY).filter((_, i) => i % 16 === 0);
    checkNear(row, exact.map(Number), tolerance, `${what}, row ${position}`);
  }
}

/** Computes the logits of the prompt at once and of further rows one by one, then of all one by one. */
export async function checkLlama(gpu, form, kvType) {
  const fixture = await (await fetch("/tests/tensor/llama/logits.txt")).text();
  const tolerance = kvType === "float32" ? WIDE : NARROW;
  const [embedded, { layers, logits }] = [embedding(), await llama(gpu, form, kvType)];
  for (const prompt of [12, 1]) {
    const found = [...(await logits(embedded.subarray(0, prompt * HIDDEN)))];
    for (let i = prompt; i < N_TOKENS; i += 1) found.push(...(await logits(embedded.subarray(i * HIDDEN, (i + 1) * HIDDEN))));
    checkLogits(fixture, form, Float32Array.from(found), tolerance, `${form}, ${kvType}, ${prompt} rows at once`);
    check(layers.every(({ position }) => position === N_TOKENS), "position");
    await Promise.all(layers.map((layer) => layer.reset()));
    check(layers.every(({ position }) => position === 0), "position after reset");
  }
  for (const layer of layers) layer.dispose();
}

const identity = (n) => Float32Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0));

/** Checks low-rank updates, biases, the order of calls, and layers that are not causal. */
export async function checkLayerCalls(gpu) {
  const config = { hidden: 4, nHeads: 2, mlpWidth: 4, mlp: "gelu", norm: "layer", rotaryBase: null, maxPositions: 8 };
  const zeros = new Float32Array(16);
  const ones = new Float32Array(4).fill(1);
  const bias = Float32Array.of(1, 2, 3, 4);
  // Attention of one row gives its value: the bias of v. The MLP gives the bias of down.
  const weights = {
    attentionNorm: ones, q: zeros, k: zeros, v: { values: zeros, bias }, o: identity(4),
    mlpNorm: { weight: ones, bias }, up: zeros, down: { values: zeros, bias: ones },
  };
  const layer = await gpu.createLayer(config, weights);
  check(layer.deviceBytes > 7 * 64, `${layer.deviceBytes} bytes`);
  const rows = await gpu.tensor(Float32Array.of(1, -1, 1, -1, 9, 10, 20, 20), [2, 4]);
  const both = [layer.forward(rows.slice(0, 0, 1)), layer.forward(rows.slice(0, 1))];
  rows.dispose();
  const [first, second] = await Promise.all(both);
  same(await first.read(), [3, 2, 5, 4], "the first row");
  same(await second.read(), [11, 13, 24, 25], "the second row");
  check(layer.position === 2, `position ${layer.position}`);
  await layer.setLora({ rank: 4, scale: 0.5, v: { a: identity(4), b: identity(4) } });
  await layer.reset();
  const row = await gpu.tensor(Float32Array.of(1, -1, 1, -1), [1, 4]);
  checkNear(await (await layer.forward(row)).read(), [3.5, 1.5, 5.5, 3.5], { relative: 1e-4, absolute: 0 }, "low-rank updates");
  await layer.setLora(null);
  await layer.reset();
  const half = await layer.forward(await row.cast("float16"));
  check(half.dtype === "float16", half.dtype);
  same(await half.read(), [3, 2, 5, 4], "rows of 16 bits, without updates");
  const encoder = await gpu.createLayer({ ...config, causal: false }, weights);
  same(await (await encoder.forward(row)).read(), [3, 2, 5, 4], "a layer that is not causal");
  check(encoder.position === 0, "its position");
  await checkWindow(gpu, config, { ...weights, v: identity(4) });
  await checkErrors(gpu, layer, config, weights, row);
}

/** Checks that rows with a window of one see no other row. */
async function checkWindow(gpu, config, weights) {
  const layer = await gpu.createLayer({ ...config, window: 1 }, weights);
  const rows = await gpu.tensor(Float32Array.of(1, -1, 1, -1, 9, 10, 20, 20), [2, 4]);
  const found = await (await layer.forward(rows)).read();
  for (const i of [0, 1]) {
    await layer.reset();
    const alone = await (await layer.forward(rows.slice(0, i, i + 1))).read();
    checkNear(found.subarray(4 * i, 4 * i + 4), alone, { relative: 1e-5, absolute: 0 }, `row ${i} with a window of one`);
  }
}

async function checkErrors(gpu, layer, config, weights, row) {
  const create = (options, more = {}) => () => gpu.createLayer({ ...config, ...options }, { ...weights, ...more });
  for (const [code, text, work] of [
    ["INVALID_ARGUMENT", "nheads", create({ nheads: 2 })],
    ["INVALID_ARGUMENT", "nHeads", create({ nHeads: undefined })],
    ["INVALID_ARGUMENT", "nHeads", create({ nHeads: 0 })],
    ["INVALID_ARGUMENT", "nKvHeads", create({ nHeads: 3, nKvHeads: 2, headDim: 2 })],
    ["INVALID_ARGUMENT", "headDim", create({ headDim: 257 })],
    ["INVALID_ARGUMENT", "headDim", create({ headDim: 3, rotaryBase: 100 })],
    ["INVALID_ARGUMENT", "kvType", create({ kvType: "int8" })],
    ["INVALID_ARGUMENT", "window", create({ window: 0 })],
    ["INVALID_ARGUMENT", "window", create({ window: 2, causal: false })],
    ["INVALID_ARGUMENT", "rotaryBase", create({ rotaryBase: Infinity })],
    ["INVALID_ARGUMENT", "gate", create({ mlp: "swiGlu" })],
    ["INVALID_ARGUMENT", "gate", create({}, { gate: new Float32Array(16) })],
    ["INVALID_ARGUMENT", "qq", create({}, { qq: new Float32Array(16) })],
    ["INVALID_ARGUMENT", "invalid q:", create({}, { q: undefined })],
    ["LENGTH_MISMATCH", "v has 15 elements, expected 16", create({}, { v: new Float32Array(15) })],
    ["LENGTH_MISMATCH", "v.bias has 5 elements, expected 4", create({}, { v: { values: new Float32Array(16), bias: new Float32Array(5) } })],
    ["LENGTH_MISMATCH", "mlpNorm has 5 elements, expected 4", create({}, { mlpNorm: new Float32Array(5) })],
    ["INVALID_ARGUMENT", "invalid up:", create({}, { up: { values: new Float32Array(16), dtype: "float16" } })],
    ["INVALID_ARGUMENT", "multiple of 256", create({}, { up: { values: new Uint8Array(16), quantization: "q4k" } })],
    ["INVALID_ARGUMENT", "quantization", create({}, { up: { values: new Uint8Array(16), quantization: "q3k" } })],
    ["INVALID_ARGUMENT", "type", create({}, { up: { values: new Float32Array(16), type: "float16" } })],
    ["SHAPE_MISMATCH", "[4, 1] and [4, 4]", () => layer.forward(row.transpose())],
    ["INVALID_ARGUMENT", "rows", () => layer.forward(new Float32Array(4))],
    ["INVALID_ARGUMENT", "9 rows after 1", async () => layer.forward(await gpu.zeros([9, 4]))],
    ["LENGTH_MISMATCH", "q.b", () => layer.setLora({ rank: 1, scale: 1, q: { a: new Float32Array(4), b: new Float32Array(5) } })],
    ["INVALID_ARGUMENT", "rank", () => layer.setLora({ rank: 5, scale: 1 })],
  ]) {
    const error = await fails(work, code);
    check(error.message.includes(text), `${text}: ${error.message}`);
  }
  await layer.reset();
  same(await (await layer.forward(row)).read(), [3, 2, 5, 4], "after errors");
  const last = layer.forward(row);
  layer.dispose();
  layer.dispose();
  same(await (await last).shape, [1, 4], "a call before the disposal");
  check(layer.isDisposed, "isDisposed");
  await fails(() => layer.forward(row), "DISPOSED");
  await fails(() => layer.reset(), "DISPOSED");
}
