// Re-checks sampled elements of results in float64.
import type { Operation, TensorRound } from "./calls";
import type { Floats } from "./engine";

type Checked = Omit<TensorRound, "milliseconds">;

/** Number of elements of a product that are recomputed, and of rows of an operation. */
const ELEMENTS = 512;
const ROWS = 16;

/** Recomputes evenly spaced elements of a product and returns the largest relative error. */
export function errorOfProduct(a: Floats, b: Floats, values: Floats, size: number): Checked {
  const step = Math.max(1, Math.floor((size * size) / ELEMENTS)) | 1;
  const compare = comparison();
  for (let at = 0; at < size * size; at += step) {
    const [row, col] = [Math.floor(at / size), at % size];
    let sum = 0;
    for (let i = 0; i < size; i += 1) sum += (a[row * size + i] as number) * (b[i * size + col] as number);
    compare.add(values[at] as number, sum);
  }
  return compare.result();
}

/** Recomputes evenly spaced rows of an operation and returns the largest relative error. */
export function errorOfOperation(operation: Operation, a: Floats, values: Floats, rows: number, cols: number): Checked {
  const compare = comparison();
  if (operation === "sum") {
    // Relative to the sum of magnitudes, since the elements cancel each other.
    const [sum, magnitude] = a.reduce(([s, m], x) => [s + x, m + Math.abs(x)] as [number, number], [0, 0] as [number, number]);
    return { error: Math.abs((values[0] as number) - sum) / magnitude, checked: 1 };
  }
  const step = Math.max(1, Math.floor(rows / ROWS));
  for (let row = 0; row < rows; row += step) {
    const right = rowOf[operation](Float64Array.from(a.subarray(row * cols, (row + 1) * cols)));
    right.forEach((value, col) => compare.add(values[row * cols + col] as number, value));
  }
  return compare.result();
}

const rowOf: Record<Exclude<Operation, "sum">, (row: Float64Array) => Float64Array> = {
  softmax(row) {
    const most = row.reduce((a, b) => Math.max(a, b), -Infinity);
    const powers = row.map((x) => Math.exp(x - most));
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((x) => x / sum);
  },
  "layer norm"(row) {
    const mean = row.reduce((a, b) => a + b, 0) / row.length;
    const variance = row.reduce((a, b) => a + (b - mean) ** 2, 0) / row.length;
    return row.map((x) => (x - mean) / Math.sqrt(variance + 1e-5));
  },
  gelu: (row) => row.map((x) => (x * (1 + erf(x / Math.SQRT2))) / 2),
};

/** The error function by its Taylor series, which converges fast for the |x| < 1 that occur here. */
function erf(x: number): number {
  let [term, sum] = [x, x];
  for (let n = 1; n < 30; n += 1) {
    term *= (-x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

/** Collects the largest error, relative to the largest element. */
function comparison(): { add(value: number, right: number): void; result(): Checked } {
  let [error, largest, checked] = [0, 0, 0];
  return {
    add(value, right) {
      error = Math.max(error, Math.abs(value - right));
      largest = Math.max(largest, Math.abs(right));
      checked += 1;
    },
    result: () => ({ error: error / largest, checked }),
  };
}
