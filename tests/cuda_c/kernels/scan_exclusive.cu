// Work-efficient exclusive scan of two elements for each thread (Blelloch), with padding against bank conflicts.
#define LOG_BANKS 5
#define PAD(n) ((n) + ((n) >> LOG_BANKS))
__global__ void scan_exclusive(const int *in, int *out, int *block_sums)
{
    extern __shared__ int temp[];
    int t = threadIdx.x, n = 2 * blockDim.x, base = blockIdx.x * n;
    temp[PAD(2 * t)] = in[base + 2 * t];
    temp[PAD(2 * t + 1)] = in[base + 2 * t + 1];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int ai = PAD(offset * (2 * t + 1) - 1);
            int bi = PAD(offset * (2 * t + 2) - 1);
            temp[bi] += temp[ai];
        }
        offset *= 2;
    }
    if (t == 0) {
        block_sums[blockIdx.x] = temp[PAD(n - 1)];
        temp[PAD(n - 1)] = 0;
    }
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (t < d) {
            int ai = PAD(offset * (2 * t + 1) - 1);
            int bi = PAD(offset * (2 * t + 2) - 1);
            int v = temp[ai];
            temp[ai] = temp[bi];
            temp[bi] += v;
        }
    }
    __syncthreads();
    out[base + 2 * t] = temp[PAD(2 * t)];
    out[base + 2 * t + 1] = temp[PAD(2 * t + 1)];
}
