// Conversions between float and integers, and the functions that round.
__global__ void float_to_int(const float *x, int *ints, unsigned *naturals, float *reals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    ints[7 * i] = (int)v;
    ints[7 * i + 1] = v;
    ints[7 * i + 2] = __float2int_rn(v);
    ints[7 * i + 3] = __float2int_rd(v);
    ints[7 * i + 4] = __float2int_ru(v);
    ints[7 * i + 5] = __float2int_rz(v);
    ints[7 * i + 6] = int(v * 2) % 7;
    naturals[2 * i] = (unsigned)fabsf(v);
    naturals[2 * i + 1] = __float2uint_rn(fabsf(v));
    reals[8 * i] = floorf(v);
    reals[8 * i + 1] = ceilf(v);
    reals[8 * i + 2] = truncf(v);
    reals[8 * i + 3] = roundf(v);
    reals[8 * i + 4] = rintf(v);
    reals[8 * i + 5] = (float)(i - 3) + static_cast<float>(7u);
    reals[8 * i + 6] = __int2float_rn(ints[7 * i]);
    reals[8 * i + 7] = i / 2 + 0.5f;
}
