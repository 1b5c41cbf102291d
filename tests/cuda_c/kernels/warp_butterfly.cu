// A maximum by __shfl_xor_sync: every lane has the result.
#define FULL 0xffffffffu
__device__ __forceinline__ int warp_max(int v)
{
#pragma unroll
    for (int mask = warpSize / 2; mask > 0; mask >>= 1)
        v = max(v, __shfl_xor_sync(FULL, v, mask));
    return v;
}

__global__ void warp_butterfly(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i] - warp_max(in[i]);
}
