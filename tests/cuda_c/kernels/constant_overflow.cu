// Constant expressions that wrap, shift into the sign or leave the range in code that never runs.
#define GOLDEN 2654435761u
template <int N>
__device__ int last(const int *values)
{
    if (N > 4) return values[N];
    return values[N - 1];
}

__global__ void constant_overflow(int *out, unsigned *words)
{
    if (threadIdx.x != 0) return;
    int local[4] = {1, 2, 3, 4};
    words[0] = GOLDEN * 3u;
    words[1] = 0u - 1u;
    words[2] = 0xffffffffu + 2u;
    words[3] = -1;
    words[4] = ~0u << 31;
    words[5] = 1u << 31;
    words[6] = -5u / 2u;
    out[0] = 1 << 30;
    out[1] = (int)0x80000000 >> 3;
    out[2] = (int)0xfffffff0u;
    out[3] = last<4>(local);
    if (sizeof(int) == 8) out[4] = local[7];
    else out[4] = local[3];
    out[5] = (unsigned char)300 + (signed char)200 + (short)70000;
    out[6] = -7 / 2 * 10 + -7 % 3;
    out[7] = 7 & 3 | 8 ^ 1 << 2 + 1;
}
