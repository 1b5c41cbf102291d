// Convolution kernels.
import type { Picture } from "./calls";

const square = (values: number[]): Picture => {
  const side = Math.sqrt(values.length);
  return { pixels: Float32Array.from(values), rows: side, cols: side };
};

/** Returns a normalised Gaussian kernel, `side` pixels wide. */
function gaussian(side: number): Picture {
  const middle = (side - 1) / 2;
  const weight = (i: number): number => Math.exp(-(((i - middle) / (side / 5)) ** 2) / 2);
  const values = Array.from({ length: side * side }, (_, i) => weight(i % side) * weight(Math.floor(i / side)));
  const sum = values.reduce((total, value) => total + value, 0);
  return square(values.map((value) => value / sum));
}

/** The kernels, by their value in the page's selection; `middle` is the grey that shows a result of 0. */
export const KERNELS: Record<string, { kernel: Picture; middle: number }> = {
  edges: { kernel: square([-1, -1, -1, -1, 8, -1, -1, -1, -1]), middle: 0 },
  slope: { kernel: square([-1, 0, 1, -2, 0, 2, -1, 0, 1]), middle: 0.5 },
  sharpen: { kernel: square([0, -1, 0, -1, 5, -1, 0, -1, 0]), middle: 0 },
  blur: { kernel: gaussian(11), middle: 0 },
  "wide-blur": { kernel: gaussian(31), middle: 0 },
};
