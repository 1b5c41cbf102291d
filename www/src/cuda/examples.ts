// The examples of kernels in CUDA C.

/** A kernel as the visitor sees it first, with its launch. */
interface Example {
  label: string;
  entry: string;
  block: readonly [x: number, y: number];
  source: string;
}

export const EXAMPLES = {
  saxpy: {
    label: "SAXPY",
    entry: "saxpy",
    block: [256, 1],
    source: `// y = a * x + y
__global__ void saxpy(int n, float a, const float *x, float *y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}
`,
  },
  reduction: {
    label: "Block reduction",
    entry: "block_sum",
    block: [256, 1],
    source: `// The sum of each block: first by warps, then of the sums of the warps.
__device__ int warp_sum(int value) {
  for (int offset = 16; offset > 0; offset /= 2)
    value += __shfl_down_sync(0xffffffff, value, offset);
  return value;
}

__global__ void block_sum(int n, const int *in, int *sums) {
  __shared__ int warps[8];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  int value = warp_sum(i < n ? in[i] : 0);
  if (lane == 0) warps[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = warp_sum(lane < 8 ? warps[lane] : 0);
    if (lane == 0) sums[blockIdx.x] = value;
  }
}
`,
  },
  life: {
    label: "Game of Life",
    entry: "life",
    block: [16, 16],
    source: `// One generation on a torus.
__global__ void life(const int *cells, int *next, int width, int height) {
  int x = blockIdx.x * blockDim.x + threadIdx.x;
  int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  int alive = 0;
  #pragma unroll
  for (int dy = -1; dy <= 1; dy++)
    for (int dx = -1; dx <= 1; dx++) {
      if (dx == 0 && dy == 0) continue;
      int row = (y + dy + height) % height;
      alive += cells[row * width + (x + dx + width) % width];
    }
  int self = cells[y * width + x];
  next[y * width + x] = alive == 3 || (alive == 2 && self);
}
`,
  },
  mandelbrot: {
    label: "Mandelbrot set",
    entry: "mandelbrot",
    block: [16, 16],
    source: `// The iterations until escape, 256 for points of the set.
__global__ void mandelbrot(int *counts, int width, int height) {
  int px = blockIdx.x * blockDim.x + threadIdx.x;
  int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;
  float2 c = {-2.4f + px * 0.005f, -0.9f + py * 0.005f};
  float2 z = {0.0f, 0.0f};
  int k = 0;
  while (k < 256 && z.x * z.x + z.y * z.y < 4.0f) {
    float real = z.x * z.x - z.y * z.y + c.x;
    z.y = 2.0f * z.x * z.y + c.y;
    z.x = real;
    k++;
  }
  counts[py * width + px] = k;
}
`,
  },
} as const satisfies Record<string, Example>;

export type ExampleName = keyof typeof EXAMPLES;

export const EXAMPLE_NAMES = Object.keys(EXAMPLES) as ExampleName[];
