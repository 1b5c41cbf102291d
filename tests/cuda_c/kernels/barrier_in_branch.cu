// Barriers in branches that a block takes as a whole.
__global__ void barrier_in_branch(const int *in, int *out, int mode)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    tile[t] = in[i];
    if (blockIdx.x & 1) {
        __syncthreads();
        out[i] = tile[63 - t];
    } else if (mode == 2) {
        __syncthreads();
        int v = tile[(t + 1) % 64];
        __syncthreads();
        tile[t] = v;
        __syncthreads();
        out[i] = tile[(t + 1) % 64];
    } else {
        out[i] = 0;
    }
}
