// Bits of floats as integers: an approximate reciprocal square root with one Newton step.
__global__ void float_bits(const float *x, float *roots, unsigned *exponents, int *order, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float half = 0.5f * x[i];
    int bits = __float_as_int(x[i]);
    bits = 0x5f3759df - (bits >> 1);
    float y = __int_as_float(bits);
    y = y * (1.5f - half * y * y);
    roots[i] = y;
    exponents[i] = (__float_as_uint(x[i]) >> 23) & 0xff;
    order[i] = __float_as_uint(__uint_as_float(0x3f800000u | i)) - 0x3f800000;
}
