#include "cuda_fp16.h"

__global__ void half_pairs(const half2 *a, const half *b, __half2 *out, float *sums) {
    __shared__ half2 tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    half2 x = a[i];
    half2 y = __halves2half2(b[2 * i], b[2 * i + 1]);
    tile[threadIdx.x] = __hfma2(x, y, __float2half2_rn(0.25f));
    __syncthreads();
    half2 z = tile[63 - threadIdx.x];
    half2 result = __hadd2(z, x) * y;
    result.x = __hmax(result.x, __low2half(y));
    out[i] = result;
    half2 moved = __shfl_down_sync(~0u, z, 1);
    half swapped = __shfl_xor_sync(~0u, __high2half(z), 2);
    sums[i] = __low2float(z) + __high2float(z) + __half2float(moved.y) + __half2float(swapped);
}
