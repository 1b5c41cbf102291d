// Threads return before a barrier that the others reach.
__global__ void return_before_barrier(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = 0;
    if (i >= n) return;
    tile[t] = in[i];
    __syncthreads();
    int sum = tile[t] + tile[(t + 1) & 63];
    if (sum % 3 == 0) {
        out[i] = -1;
        return;
    }
    __syncthreads();
    tile[t] = sum;
    __syncthreads();
    out[i] = tile[t ^ 1] * 2 + sum;
}
