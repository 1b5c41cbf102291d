// Whole blocks return before a barrier.
__global__ void uniform_return(const int *in, int *out, int n_blocks, int mode)
{
    __shared__ int tile[64];
    if (blockIdx.x >= n_blocks) return;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = in[i];
    if (mode == 0) return;
    __syncthreads();
    if (blockIdx.x == 1) {
        out[i] = tile[63 - t];
        return;
    }
    int v = tile[(t + 1) % 64];
    __syncthreads();
    tile[t] = v;
    __syncthreads();
    out[i] = tile[(t + 1) % 64];
}
