// The fast variants of elementary functions.
__global__ void math_fast(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    out[9 * i] = __expf(v);
    out[9 * i + 1] = __logf(v);
    out[9 * i + 2] = __sinf(v);
    out[9 * i + 3] = __cosf(v);
    out[9 * i + 4] = __powf(v, 2.5f);
    out[9 * i + 5] = __fdividef(v, 3.0f);
    out[9 * i + 6] = __saturatef(v - 1.0f);
    out[9 * i + 7] = __fmul_rn(v, 2.0f) + __fadd_rn(v, 1.0f) + __frcp_rn(v);
    out[9 * i + 8] = __fsqrt_rn(v) + __fmaf_rn(v, 2.0f, 1.0f) + __fdiv_rn(v, 4.0f);
}
