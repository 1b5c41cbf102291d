// Functions that WGSL does not have.
__global__ void math_special(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float *o = out + 6 * i;
    o[0] = erff(v);
    o[1] = cbrtf(v);
    o[2] = hypotf(v, 1.25f);
    o[3] = log1pf(fabsf(v));
    o[4] = expm1f(v);
    o[5] = erfcf(v);
}
