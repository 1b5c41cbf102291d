#include <cuda_fp16.h>

__global__ void half_scalar(const half *a, const __half *b, half *out, int *flags, half scale, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) {
        return;
    }
    const half table[3] = {0.5f, 2.0f, -4.0f};
    half x = a[i];
    half r[4];
    r[0] = x * b[i] + scale;
    r[1] = __hfma(x, b[i], table[i % 3]);
    r[2] = __hsub(x, b[i]) / __float2half(3.0f);
    r[3] = hsqrt(__habs(x));
    if (__hgt(r[0], r[1])) {
        r[0] = -r[0];
    }
    for (int k = 0; k < 4; k++) {
        out[4 * i + k] = r[k];
    }
    flags[2 * i] = (x < b[i]) + 2 * (x == x) + 4 * __heq(x, b[i]) + 8 * (int)__half2float(scale);
    flags[2 * i + 1] = __half2int_rz(x) * 100000 + __half_as_ushort(x);
}
