// Inputs, launches and expected results of the examples.
import type { CudaKernel, GpuDevice, GpuTensor } from "pagepress/tensor";
import type { Picture } from "./calls";
import { EXAMPLES, type ExampleName } from "./examples";

/** A result compared with that of JavaScript. */
export interface Comparison {
  checked: number;
  different: number;
  isRight: boolean;
  picture: Picture | null;
}

/** An example with its input in GPU memory. */
export interface PreparedRun {
  launches: number;
  /** Submits all launches. */
  launch(): void;
  /** Reads the result of the first `launch` and compares it. */
  compare(): Promise<Comparison>;
  tensors: readonly GpuTensor[];
}

const LENGTH = 1 << 20;
const FACTOR = 2.5;
const LIFE = { width: 512, height: 256, generations: 64 } as const;
const MANDELBROT = { width: 640, height: 360, limit: 256 } as const;
/** The share of pixels that may differ: drivers fuse multiplications and additions or not, which counts at the border of the set. */
const BORDER = 0.01;

/** The bits of integers as the elements of a tensor. */
const asFloats = (words: Int32Array<ArrayBuffer>): Float32Array<ArrayBuffer> => new Float32Array(words.buffer);
const readWords = async (tensor: GpuTensor): Promise<Int32Array> => {
  const { buffer, byteOffset, length } = await tensor.read();
  return new Int32Array(buffer, byteOffset, length);
};

const blocks = (n: number, size: number): number => Math.ceil(n / size);

function countDifferent(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance = 0): number {
  let different = 0;
  for (let i = 0; i < expected.length; i += 1) {
    const distance = Math.abs((actual[i] ?? NaN) - (expected[i] as number));
    // NaN counts as different.
    if (!(distance <= tolerance * Math.abs(expected[i] as number))) different += 1;
  }
  return different;
}

async function saxpy(device: GpuDevice, kernel: CudaKernel): Promise<PreparedRun> {
  const x = Float32Array.from({ length: LENGTH }, (_, i) => i % 1000);
  const y = Float32Array.from({ length: LENGTH }, (_, i) => i % 77);
  const [onX, onY] = [await device.tensor(x), await device.tensor(y)];
  return {
    launches: 1,
    tensors: [onX, onY],
    launch: () => kernel.launch(blocks(LENGTH, EXAMPLES.saxpy.block[0]), [LENGTH, FACTOR, onX, onY]),
    async compare() {
      const different = countDifferent(await onY.read(), x.map((value, i) => FACTOR * value + (y[i] as number)), 1e-6);
      return { checked: LENGTH, different, isRight: different === 0, picture: null };
    },
  };
}

async function reduction(device: GpuDevice, kernel: CudaKernel): Promise<PreparedRun> {
  const [size] = EXAMPLES.reduction.block;
  const n = LENGTH - 100;
  const input = Int32Array.from({ length: n }, (_, i) => (i * 7919) % 2003 - 1000);
  const sums = new Int32Array(blocks(n, size));
  input.forEach((value, i) => (sums[Math.floor(i / size)] = (sums[Math.floor(i / size)] as number) + value));
  const [onInput, onSums] = [await device.tensor(asFloats(input)), await device.zeros([sums.length])];
  return {
    launches: 1,
    tensors: [onInput, onSums],
    launch: () => kernel.launch(sums.length, [n, onInput, onSums]),
    async compare() {
      const different = countDifferent(await readWords(onSums), sums);
      return { checked: sums.length, different, isRight: different === 0, picture: null };
    },
  };
}

/** Returns the next generation of the Game of Life. */
function nextGeneration(cells: Int32Array<ArrayBuffer>): Int32Array<ArrayBuffer> {
  const { width, height } = LIFE;
  const next = new Int32Array(cells.length);
  for (let y = 0; y < height; y += 1) {
    const rows = [y === 0 ? height - 1 : y - 1, y, y === height - 1 ? 0 : y + 1].map((row) => row * width);
    for (let x = 0; x < width; x += 1) {
      const [left, right] = [x === 0 ? width - 1 : x - 1, x === width - 1 ? 0 : x + 1];
      const self = cells[y * width + x] as number;
      let alive = -self;
      for (const row of rows) alive += (cells[row + left] as number) + (cells[row + x] as number) + (cells[row + right] as number);
      next[y * width + x] = alive === 3 || (alive === 2 && self === 1) ? 1 : 0;
    }
  }
  return next;
}

async function life(device: GpuDevice, kernel: CudaKernel): Promise<PreparedRun> {
  const { width, height, generations } = LIFE;
  let state = 1;
  const first = Int32Array.from({ length: width * height }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 30 === 0 ? 1 : 0;
  });
  const cells = [await device.tensor(asFloats(first)), await device.zeros([width * height])] as const;
  const [x, y] = EXAMPLES.life.block;
  const grid = [blocks(width, x), blocks(height, y)] as const;
  return {
    launches: generations,
    tensors: cells,
    launch() {
      for (let i = 0; i < generations; i += 2) {
        kernel.launch(grid, [cells[0], cells[1], width, height]);
        kernel.launch(grid, [cells[1], cells[0], width, height]);
      }
    },
    async compare() {
      let expected = first;
      for (let i = 0; i < generations; i += 1) expected = nextGeneration(expected);
      const actual = await readWords(cells[0]);
      const different = countDifferent(actual, expected);
      const picture = draw(width, height, (at) => (actual[at] === 1 ? [90, 200, 250] : [12, 20, 34]));
      return { checked: actual.length, different, isRight: different === 0, picture };
    },
  };
}

/** Returns the iterations of every pixel, in single precision without fused operations. */
function mandelbrotCounts(): Int32Array {
  const { width, height, limit } = MANDELBROT;
  const round = Math.fround;
  const step = round(0.005);
  return Int32Array.from({ length: width * height }, (_, at) => {
    const [cx, cy] = [round(round(-2.4) + round((at % width) * step)), round(round(-0.9) + round(Math.floor(at / width) * step))];
    let [x, y, k] = [0, 0, 0];
    while (k < limit && round(round(x * x) + round(y * y)) < 4) {
      [x, y] = [round(round(round(x * x) - round(y * y)) + cx), round(round(round(2 * x) * y) + cy)];
      k += 1;
    }
    return k;
  });
}

async function mandelbrot(device: GpuDevice, kernel: CudaKernel): Promise<PreparedRun> {
  const { width, height, limit } = MANDELBROT;
  const counts = await device.zeros([width * height]);
  const [x, y] = EXAMPLES.mandelbrot.block;
  return {
    launches: 1,
    tensors: [counts],
    launch: () => kernel.launch([blocks(width, x), blocks(height, y)], [counts, width, height]),
    async compare() {
      const actual = await readWords(counts);
      const different = countDifferent(actual, mandelbrotCounts());
      const picture = draw(width, height, (at) => {
        const share = Math.sqrt((actual[at] as number) / limit);
        return share >= 1 ? [8, 8, 20] : [255 * share, 90 + 150 * share, 120 + 135 * Math.sin(Math.PI * share)];
      });
      return { checked: actual.length, different, isRight: different <= BORDER * actual.length, picture };
    },
  };
}

function draw(width: number, height: number, colour: (at: number) => readonly [number, number, number]): Picture {
  const pixels = new Uint8ClampedArray(4 * width * height);
  for (let at = 0; at < width * height; at += 1) pixels.set([...colour(at), 255], 4 * at);
  return { width, height, pixels };
}

export const RUNS: Record<ExampleName, (device: GpuDevice, kernel: CudaKernel) => Promise<PreparedRun>> = { saxpy, reduction, life, mandelbrot };
