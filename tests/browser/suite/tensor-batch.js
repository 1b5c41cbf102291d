// Tests batches of tensor operations against plain loops and single calls.
import { check, same } from "./check.js";
import { fails } from "./tensor-arrays.js";
import * as reference from "./tensor-reference.js";

const { checkNear, checkSums, numbers } = reference;

/** Compares operations of a batch with plain loops and with single calls. */
export async function checkBatches(gpu) {
  const [x, y] = [numbers(600, 32, 2), numbers(600, 33, 2)];
  const batch = gpu.batch();
  const [a, b] = [batch.upload(x), batch.upload(y)];
  const relu = batch.relu(a);
  const sum = batch.add(batch.scale(relu, 2), b);
  const square = batch.mul(sum, sum);
  const product = batch.matmul(square, sum, 20, 30, 20);
  const total = batch.reduce("sum", product);
  const finished = batch.matmul(square, sum, 20, 30, 20, { activation: "relu", residual: product });
  const others = [batch.dot(a, b), batch.softmax(a), batch.logSoftmax(a), batch.convolve2d(a, batch.upload(y.subarray(0, 9)), [20, 30], [3, 3])];
  const names = ["sigmoid", "tanh", "swish", "gelu"].map((name) => [name, batch[name](a)]);
  const more = [["leakyRelu", 0.1], ["elu", 0.2], ["clip", -1, 1]].map(([name, ...args]) => [name, args, batch[name](a, ...args)]);
  const kernelNs = await batch.execute();
  check(kernelNs === null || kernelNs > 0, `${kernelNs} ns`);
  const exact = Float32Array.from(x, (value, i) => Math.fround(Math.max(value, 0) * 2) + y[i]);
  const [found, early] = await Promise.all([batch.read(sum), batch.read(relu)]);
  checkNear(found, exact, { relative: 2e-7, absolute: 1e-7 }, "sum");
  same(early, await gpu.relu(x), "what was on the way");
  const squares = found.map((value) => value * value);
  const products = reference.matmul(squares, found, 20, 30, 20);
  checkSums(await batch.read(product), products, 3e-6, "matmul");
  const twice = products.map(([sum, magnitude]) => [Math.max(sum, 0) + sum, 2 * magnitude]);
  checkSums(await batch.read(finished), twice, 3e-6, "matmul with an epilogue");
  checkSums(await batch.read(total), [products.reduce(([sum, all], [s, m]) => [sum + s, all + m], [0, 0])], 3e-6, "reduce");
  check(Math.abs((await batch.read(others[0]))[0] - (await gpu.dot(x, y))) < 1e-3, "dot");
  same(await batch.read(others[1]), await gpu.softmax(x), "softmax");
  same(await batch.read(others[2]), await gpu.logSoftmax(x), "logSoftmax");
  same(await batch.read(others[3]), await gpu.convolve2d(x, y.subarray(0, 9), [20, 30], [3, 3]), "convolve2d");
  for (const [name, id] of names) same(await batch.read(id), await gpu[name](x), name);
  for (const [name, args, id] of more) same(await batch.read(id), await gpu[name](x, ...args), name);
  const resident = await batch.result(product);
  const again = batch.tensor(await resident.scale(0.5));
  const half = batch.scale(again, 2);
  same(await batch.read(half), await resident.read(), "tensors go in and out");
  check((await batch.execute()) === null, "nothing left to run");
  batch.dispose();
  check(String(resident.shape) === "20,20" && (await resident.read()).length === 400, "a result outlives its batch");
  await fails(() => batch.execute(), "DISPOSED");
  await fails(() => batch.upload(x), "DISPOSED");
}

/** Checks that wrong batches have typed errors, and that their device goes on. */
export async function checkBatchErrors(gpu) {
  const other = gpu.batch();
  other.upload(Float32Array.of(1));
  const foreign = other.upload(Float32Array.of(1, 2));
  const wrong = gpu.batch();
  wrong.relu(wrong.add(wrong.upload(Float32Array.of(1, 2)), foreign));
  await fails(() => wrong.execute(), "INVALID_ARGUMENT");
  await fails(() => wrong.read(foreign), "INVALID_ARGUMENT");
  const shapes = gpu.batch();
  shapes.mul(shapes.upload(Float32Array.of(1, 2)), shapes.upload(Float32Array.of(1, 2, 3)));
  await fails(() => shapes.execute(), "SHAPE_MISMATCH");
  const lengths = gpu.batch();
  lengths.matmul(lengths.upload(Float32Array.of(1, 2)), lengths.upload(Float32Array.of(1, 2, 3)), 1, 2, 2);
  await fails(() => lengths.execute(), "LENGTH_MISMATCH");
  const batch = gpu.batch();
  await fails(() => batch.relu({}), "INVALID_ARGUMENT");
  await fails(() => batch.upload([1]), "INVALID_ARGUMENT");
  const id = batch.upload(Float32Array.of(-1, 2));
  const done = batch.execute();
  await Promise.resolve();
  await Promise.resolve();
  await fails(() => batch.relu(id), "INVALID_ARGUMENT");
  await done;
  same(await batch.read(batch.relu(id)), [0, 2], "after its execution");
}
