// Compares matrix products on the GPU with TensorFlow.js on the same adapter: several products in a row, of which the last
// is read back.
import { GpuDevice } from "/dist/tensor.js";

/** Duration of the warm-up: idle GPUs lower their clock. */
const WARM_UP_MS = 1000;
/** Number of elements of each product that are checked. */
const N_COMPARED = 200;

const median = (times) => times.sort((a, b) => a - b)[times.length >> 1];

function numbers(n, seed) {
  let state = seed;
  return Float32Array.from({ length: n }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 31 - 1;
  });
}

/** Returns the functions of Pagepress that create a tensor and multiply two. */
async function pagepress(allowSoftware) {
  const device = await GpuDevice.open({ allowSoftware });
  return {
    name: "pagepress",
    adapter: device.info.name,
    tensor: (data, n) => device.tensor(data, [n, n]),
    multiply: (a, b) => a.matmul(b),
    read: (tensor) => tensor.read(),
    close: () => device.dispose(),
  };
}

/** Returns the same functions of TensorFlow.js. */
async function tensorflow() {
  // TensorFlow.js calls this method, which browsers have removed.
  GPUAdapter.prototype.requestAdapterInfo ??= async function requestAdapterInfo() {
    return this.info;
  };
  const { tf } = await import("/target/browser-bench/tensorflow.js");
  await tf.setBackend("webgpu");
  await tf.ready();
  if (tf.getBackend() !== "webgpu") throw new Error("TensorFlow.js does not take WebGPU");
  return {
    name: `tensorflow.js ${tf.version_core}`,
    tensor: async (data, n) => tf.tensor2d(data, [n, n]),
    multiply: async (a, b) => tf.matMul(a, b),
    read: (tensor) => tensor.data(),
    close: () => undefined,
  };
}

/** Fails unless some elements of c equal those of a b. */
function compare(name, a, b, c, n) {
  for (let i = 0; i < N_COMPARED; i += 1) {
    const [row, col] = [Math.imul(i, 7919) % n, Math.imul(i, 104729) % n];
    let [sum, magnitude] = [0, 0];
    for (let k = 0; k < n; k += 1) {
      const product = a[row * n + k] * b[k * n + col];
      sum += product;
      magnitude += Math.abs(product);
    }
    const found = c[row * n + col];
    if (!(Math.abs(found - sum) <= 2e-6 * magnitude)) throw new Error(`${name}: [${row}, ${col}] is ${found}, exactly ${sum}`);
  }
}

/** Returns the milliseconds of `nProducts` products and of reading the last. */
async function run(package_, a, b, nProducts) {
  const begin = performance.now();
  let product = null;
  for (let i = 0; i < nProducts; i += 1) {
    product?.dispose();
    product = await package_.multiply(a, b);
  }
  const values = await package_.read(product);
  const ms = performance.now() - begin;
  product.dispose();
  return { values, ms };
}

async function time(package_, data, n, { nProducts, runs, warmUpMs }) {
  const [a, b] = [await package_.tensor(data[0], n), await package_.tensor(data[1], n)];
  const first = await run(package_, a, b, 1);
  compare(package_.name, ...data, first.values, n);
  for (const begin = performance.now(); performance.now() - begin < warmUpMs; ) await run(package_, a, b, nProducts);
  const times = [];
  for (let i = 0; i < runs; i += 1) times.push((await run(package_, a, b, nProducts)).ms / nProducts);
  a.dispose();
  b.dispose();
  return median(times);
}

/** Benchmarks both at each size and passes each result to `note`. */
export async function benchTensors({ sizes, nProducts, runs, allowSoftware }, note) {
  const packages = [await pagepress(allowSoftware), await tensorflow()];
  note({ adapter: packages[0].adapter, packages: packages.map(({ name }) => name), nProducts, runs });
  const warmUpMs = allowSoftware ? 0 : WARM_UP_MS;
  for (const n of sizes) {
    const data = [numbers(n * n, 1), numbers(n * n, 2)];
    const ms = {};
    for (const one of packages) ms[one.name] = await time(one, data, n, { nProducts, runs, warmUpMs });
    const tflops = Object.fromEntries(Object.entries(ms).map(([name, time_]) => [name, Number(((2 * n ** 3) / time_ / 1e9).toPrecision(3))]));
    note({ matmul: n, ms, tflops });
  }
  packages.forEach(({ close }) => close());
}
