// Barriers in loops over the block's size, a parameter and a constant.
__global__ void barrier_in_loop(const int *in, int *out, int rounds)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * 64 + t];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        int next = tile[(t + r + 1) % 64] * 3 + tile[t];
        __syncthreads();
        tile[t] = next & 0xffff;
        __syncthreads();
    }
    for (unsigned stride = blockDim.x >> 1; stride > 0; stride >>= 1) {
        if (t < stride) tile[t] += tile[t + stride];
        __syncthreads();
    }
#pragma unroll
    for (int k = 0; k < 2; ++k) {
        int seen = tile[k];
        __syncthreads();
        if (t == 0) tile[k + 1] = seen + k;
        __syncthreads();
    }
    out[blockIdx.x * 64 + t] = tile[t % 3];
}
