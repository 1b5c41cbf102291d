// The operations as plain loops in double precision, their tolerances (those of tests/tensor/tolerance.rs), and
// pseudo-random inputs.
import { check } from "./check.js";

/** Returns pseudo-random numbers from -`size` to `size`; equal seeds return equal numbers. */
export function numbers(n, seed, size) {
  let state = (seed * 0x9e37_79b9) >>> 0 || 1;
  return Float32Array.from({ length: n }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return ((state >>> 8) / 2 ** 23 - 1) * size;
  });
}

function erfc(x) {
  if (x < 0) return 2 - erfc(-x);
  if (x < 2.5) {
    let [sum, term] = [x, x];
    for (let n = 1; n < 80; n += 1) {
      term *= (-x * x) / n;
      sum += term / (2 * n + 1);
    }
    return 1 - (sum * 2) / Math.sqrt(Math.PI);
  }
  let fraction = x;
  for (let n = 80; n > 0; n -= 1) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / fraction / Math.sqrt(Math.PI);
}

const rounded = { relative: 2e-7, absolute: 1e-37 };
const nearly = { relative: 4e-7, absolute: 1e-37 };
const exponent = { relative: 3e-5, absolute: 1e-30 };
const exact = { relative: 0, absolute: 0 };
export const SOFTMAX = exponent;
export const LOG_SOFTMAX = { relative: 2e-6, absolute: 2e-6 };
/** Tolerances of sums and of products, relative to the sum of magnitudes. */
export const SUMS = 1e-6;
export const PRODUCTS = 2e-6;

const below = (x, value) => (x === -Infinity ? 0 : value);
const inner = (x) => Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3);

/** Each step, its result for x and y, and its tolerance. */
export const steps = [
  ["relu", (x) => Math.max(x, 0), exact],
  [["leakyRelu", 0.25], (x) => (x < 0 ? 0.25 * x : x), rounded],
  [["elu", 0.75], (x) => (x < 0 ? 0.75 * Math.expm1(x) : x), { relative: 4e-6, absolute: 1e-30 }],
  ["sigmoid", (x) => 1 / (1 + Math.exp(-x)), exponent],
  ["tanh", Math.tanh, { relative: 4e-6, absolute: 1e-30 }],
  ["swish", (x) => below(x, x / (1 + Math.exp(-x))), exponent],
  ["gelu", (x) => below(x, (x * erfc(-x / Math.SQRT2)) / 2), exponent],
  ["geluTanh", (x) => below(x, x / (1 + Math.exp(-2 * inner(x)))), exponent],
  [["clip", -1, 1.5], (x) => Math.min(Math.max(x, -1), 1.5), exact],
  [["scale", 2.5], (x) => x * 2.5, rounded],
  [["offset", -0.5], (x) => x - 0.5, rounded],
  ["exp", Math.exp, exponent],
  ["log", Math.log, { relative: 3e-6, absolute: 1e-37 }],
  ["log1p", Math.log1p, { relative: 3e-6, absolute: 1e-37 }],
  ["sqrt", Math.sqrt, nearly],
  ["abs", Math.abs, exact],
  ["reciprocal", (x) => 1 / x, nearly],
  ["add", (x, y) => x + y, rounded],
  ["sub", (x, y) => x - y, rounded],
  ["mul", (x, y) => x * y, rounded],
  ["div", (x, y) => x / y, nearly],
  ["max", (x, y) => Math.max(x, y), exact],
  ["min", (x, y) => Math.min(x, y), exact],
];
export const takesTwo = (step) => ["add", "sub", "mul", "div", "max", "min"].includes(step);

/**
 * Fails unless all results are within the tolerance. NaN must be NaN; beyond the largest 32-bit float, a result must be
 * infinite with the right sign, or close to the largest magnitude.
 */
export function checkNear(found, wanted, { relative, absolute }, what) {
  check(found.length === wanted.length, `${what}: ${found.length} elements, expected ${wanted.length}`);
  for (const [i, right] of wanted.entries()) {
    const value = found[i];
    const isNear = Number.isNaN(right)
      ? Number.isNaN(value)
      : Math.abs(right) > 3.4028234e38
        ? value === Math.sign(right) * Infinity || Math.abs(value) > 3.4e38
        : Math.abs(value - right) <= Math.max(absolute, relative * Math.abs(right));
    check(isNear, `${what}: [${i}] is ${value}, exactly ${right}`);
  }
}

/** Fails unless all sums are within the tolerance; `wanted` has pairs of a sum and the sum of its magnitudes. */
export function checkSums(found, wanted, relative, what) {
  check(found.length === wanted.length, `${what}: ${found.length} elements, expected ${wanted.length}`);
  for (const [i, [sum, magnitude]] of wanted.entries()) {
    const isNear = Number.isNaN(sum) ? Number.isNaN(found[i]) : Math.abs(found[i] - sum) <= relative * magnitude;
    check(isNear, `${what}: [${i}] is ${found[i]}, exactly ${sum}`);
  }
}

export function softmax(a, cols, log) {
  const out = [];
  for (let at = 0; at < a.length; at += cols) {
    const row = Array.from(a.subarray(at, at + cols));
    const largest = row.reduce((most, x) => Math.max(most, x), -Infinity);
    const sum = row.reduce((total, x) => total + Math.exp(x - largest), 0);
    for (const x of row) out.push(log ? x - largest - Math.log(sum) : Math.exp(x - largest) / sum);
  }
  return out;
}

/** Returns the elements of the product of `[m, k]` and `[k, n]`, each with the sum of the magnitudes of its terms. */
export function matmul(a, b, m, k, n) {
  const out = [];
  for (let i = 0; i < m; i += 1) {
    for (let j = 0; j < n; j += 1) {
      let [sum, magnitude] = [0, 0];
      for (let l = 0; l < k; l += 1) {
        const product = a[i * k + l] * b[l * n + j];
        sum += product;
        magnitude += Math.abs(product);
      }
      out.push([sum, magnitude]);
    }
  }
  return out;
}

export function convolve2d(input, kernel, [rows, cols], [kernelRows, kernelCols]) {
  const out = [];
  for (let y = 0; y <= rows - kernelRows; y += 1) {
    for (let x = 0; x <= cols - kernelCols; x += 1) {
      let [sum, magnitude] = [0, 0];
      for (let r = 0; r < kernelRows; r += 1) {
        for (let s = 0; s < kernelCols; s += 1) {
          const product = input[(y + r) * cols + x + s] * kernel[r * kernelCols + s];
          sum += product;
          magnitude += Math.abs(product);
        }
      }
      out.push([sum, magnitude]);
    }
  }
  return out;
}

/** Reduces along axes, whose lengths become 1. Returns pairs of a value and its sum of magnitudes. */
export function reduce(kind, a, shape, axes) {
  const kept = shape.map((dim, axis) => (axes.includes(axis) ? 1 : dim));
  const n = kept.reduce((product, dim) => product * dim, 1);
  const first = { sum: 0, sumOfSquares: 0, max: -Infinity, min: Infinity }[kind];
  const out = Array.from({ length: n }, () => [first, 0]);
  const step = {
    sum: (total, x) => total + x,
    sumOfSquares: (total, x) => total + x * x,
    max: (total, x) => Math.max(total, x),
    min: (total, x) => Math.min(total, x),
  }[kind];
  for (const [at, x] of a.entries()) {
    let [rest, place, stride] = [at, 0, 1];
    for (let axis = shape.length - 1; axis >= 0; axis -= 1) {
      const index = rest % shape[axis];
      rest = Math.floor(rest / shape[axis]);
      if (kept[axis] > 1) place += index * stride;
      stride *= kept[axis];
    }
    const one = out[place];
    one[0] = step(one[0], x);
    one[1] += kind === "sum" ? Math.abs(x) : kind === "sumOfSquares" ? x * x : 0;
  }
  return out;
}

/** Normalises each row of `cols` elements, multiplies by the weights and adds the biases. */
export function norm(kind, a, cols, weight, bias, epsilon) {
  const out = [];
  for (let at = 0; at < a.length; at += cols) {
    const row = Array.from(a.subarray(at, at + cols));
    const mean = kind === "layer" ? row.reduce((sum, x) => sum + x, 0) / cols : 0;
    const variance = row.reduce((sum, x) => sum + (x - mean) ** 2, 0) / cols;
    row.forEach((x, i) => out.push(((x - mean) / Math.sqrt(variance + epsilon)) * (weight?.[i] ?? 1) + (bias?.[i] ?? 0)));
  }
  return out;
}

/** Returns cosine and sine of the rotary angles of each position. */
export function rotaryTurns(base, elements, positions) {
  return Float32Array.from({ length: positions * elements }, (_, at) => {
    const angle = Math.floor(at / elements) * base ** ((-2 * Math.floor((at % elements) / 2)) / elements);
    return at % 2 === 0 ? Math.cos(angle) : Math.sin(angle);
  });
}

/** Rotates heads `[rows, heads, elements]` by the positions of their rows. Returns each element with the sum of the magnitudes
 * of its terms. */
export function rotary(a, turns, [, heads, elements], first) {
  const half = elements / 2;
  return Array.from(a, (own, at) => {
    const [head, i] = [Math.floor(at / elements), at % elements];
    const turn = (first + Math.floor(head / heads)) * elements + 2 * (i % half);
    const other = a[head * elements + ((i + half) % elements)] * (i < half ? -1 : 1);
    const terms = [own * turns[turn], other * turns[turn + 1]];
    return [terms[0] + terms[1], Math.abs(terms[0]) + Math.abs(terms[1])];
  });
}

/** Returns the attention of queries `[heads, queries, elements]` over keys and values `[key heads, keys, elements]`. */
export function attention(q, k, v, [heads, nQ, dim], [keyHeads, nK], { causal = false, window = nK, scale = 1 / Math.sqrt(dim) }) {
  const out = [];
  for (let head = 0; head < heads; head += 1) {
    const keyHead = Math.floor(head / (heads / keyHeads));
    for (let i = 0; i < nQ; i += 1) {
      const query = q.subarray((head * nQ + i) * dim, (head * nQ + i + 1) * dim);
      const seen = causal ? i + nK - nQ + 1 : nK;
      const first = Math.max(0, seen - window);
      const rowOf = (from, j) => from.subarray((keyHead * nK + j) * dim, (keyHead * nK + j + 1) * dim);
      const scores = Array.from({ length: seen - first }, (_, j) => rowOf(k, first + j).reduce((sum, x, e) => sum + x * query[e], 0) * scale);
      const most = Math.max(...scores);
      const weights = scores.map((score) => Math.exp(score - most));
      const total = weights.reduce((sum, x) => sum + x, 0);
      for (let e = 0; e < dim; e += 1) out.push(weights.reduce((sum, x, j) => sum + x * rowOf(v, first + j)[e], 0) / total);
    }
  }
  return out;
}

/** Converts a 16-bit float to a number. */
function half(bits) {
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  const magnitude = exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15);
  return bits & 0x8000 ? -magnitude : magnitude;
}

/** Unpacks weights: `q6k` in blocks of 256, or `f16`, which are 16-bit floats. */
export function unpacked(kind, bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  if (kind === "f16") return Float32Array.from({ length: bytes.length / 2 }, (_, i) => half(view.getUint16(2 * i, true)));
  return Float32Array.from({ length: (bytes.length / 210) * 256 }, (_, at) => {
    const [start, i] = [Math.floor(at / 256) * 210, at % 256];
    const [side, quarter, l] = [Math.floor(i / 128), Math.floor(i / 32) % 4, i % 32];
    const low = (bytes[start + 64 * side + 32 * (quarter % 2) + l] >> (quarter < 2 ? 0 : 4)) & 15;
    const high = (bytes[start + 128 + 32 * side + l] >> (2 * quarter)) & 3;
    const scale = view.getInt8(start + 192 + 8 * side + 2 * quarter + Math.floor(l / 16));
    return half(view.getUint16(start + 208, true)) * scale * ((low | (high << 4)) - 32);
  });
}

/** Returns `n` rows of `k` packed weights of moderate magnitude. */
export function packedWeights(kind, n, k, seed) {
  const words = numbers(Math.ceil((kind === "f16" ? n * k * 2 : ((n * k) / 256) * 210) / 2) + 1, seed, 0x7fff);
  const bytes = new Uint8Array(new Uint16Array(words.map((x) => x + 0x8000)).buffer);
  const packed = bytes.slice(0, kind === "f16" ? n * k * 2 : ((n * k) / 256) * 210);
  const view = new DataView(packed.buffer);
  // Factors from 1/64 to 1, so that products neither overflow nor underflow.
  const step = kind === "f16" ? 2 : 210;
  for (let at = kind === "f16" ? 0 : 208; at + 2 <= packed.length; at += step) {
    view.setUint16(at, (view.getUint16(at, true) & 0x83ff) | ((9 + (at % 6)) << 10), true);
  }
  return packed;
}

/** Transposes `[n, k]` to `[k, n]`. */
export const transposed = (a, n, k) => Float32Array.from(a, (_, i) => a[(i % n) * k + Math.floor(i / n)]);
