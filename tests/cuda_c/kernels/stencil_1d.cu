// Sum over a window, through shared memory with a margin on both sides.
#define REACH 3
#define THREADS 64
__global__ void stencil_1d(const int *in, int *out, int n)
{
    __shared__ int line[REACH + THREADS + REACH];
    int first = blockIdx.x * THREADS - REACH;
    for (int k = threadIdx.x; k < THREADS + 2 * REACH; k += THREADS) {
        int from = first + k;
        line[k] = (from < 0 || from >= n) ? 0 : in[from];
    }
    __syncthreads();
    int sum = 0;
    for (int k = -REACH; k <= REACH; k++) sum += line[threadIdx.x + REACH + k];
    int i = blockIdx.x * THREADS + threadIdx.x;
    if (i < n) out[i] = sum;
}
