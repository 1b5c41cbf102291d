// The number of rounds comes from a buffer, by the block's index.
__global__ void block_bound(const int *rounds, const int *in, int *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 32 + t];
    int n = rounds[blockIdx.x];
    for (int r = 0; r < n; r++) {
        __syncthreads();
        int v = tile[(t + 5) % 32] + r;
        __syncthreads();
        tile[t] = v;
    }
    out[blockIdx.x * 32 + t] = tile[t];
}
