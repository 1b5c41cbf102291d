// fmodf, copysignf, fdimf, and tests of infinities and not-a-number.
__global__ void math_remainder(const float *a, const float *b, float *out, int *classes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = fmodf(a[i], b[i]);
    out[4 * i + 1] = copysignf(a[i], b[i]);
    out[4 * i + 2] = fdimf(a[i], b[i]);
    out[4 * i + 3] = fabsf(a[i]) - fabsf(b[i]);
    float infinite = __int_as_float(0x7f800000 + 0 * i);
    float nan = __int_as_float(0x7fc00000 + 0 * i);
    float probe = i % 3 == 0 ? a[i] : i % 3 == 1 ? infinite : nan;
    classes[i] = isnan(probe) * 4 + isinf(probe) * 2 + (isfinite(probe) ? 1 : 0);
}
