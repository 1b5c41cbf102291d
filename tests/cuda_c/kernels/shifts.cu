// Right shifts copy the sign of signed operands; the left operand alone decides the type. Shifts by 32 and more leave nothing else.
__global__ void shifts(const int *values, const unsigned *amounts, int *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = values[i];
    unsigned s = amounts[i];
    out[5 * i] = v >> s;
    out[5 * i + 1] = (unsigned)v >> s;
    out[5 * i + 2] = v << s;
    out[5 * i + 3] = 1 << (s & 31) | 1u << (31 - s % 32);
    out[5 * i + 4] = -16 >> 2u;
}
