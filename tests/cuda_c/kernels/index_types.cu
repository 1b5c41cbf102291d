// size_t, fixed-width integers and typedefs.
#include <cstdint>
#include <stdint.h>

typedef unsigned int word;
using real = float;

__global__ void index_types(const uint32_t *in, uint32_t *out, real *reals, size_t n)
{
    const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint8_t low = in[i];
    int8_t signed_low = in[i];
    uint16_t half = in[i];
    int16_t signed_half = in[i];
    int32_t whole = in[i];
    word mix = low + half * 3u + (word)signed_low;
    out[i] = mix ^ (whole >> 3) ^ (uint32_t)signed_half;
    reals[i] = (real)low / 2;
}
