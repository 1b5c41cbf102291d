// Pointers cast between element types of 32 bits and vectors of them.
__global__ void casts(const float *values, int *out, float *copies, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 4) return;
    const int *bits = (const int *)values;
    float4 four = reinterpret_cast<const float4 *>(values)[i];
    reinterpret_cast<float4 *>(copies)[i] = make_float4(four.w, four.z, four.y, four.x);
    for (int k = 0; k < 4; k++) out[4 * i + k] = bits[4 * i + k] ^ 0x80000000;
    unsigned *words = (unsigned *)out;
    words[4 * i] >>= 1;
    out[4 * i + 1] = *(const unsigned *)&values[4 * i] >> 23;
}
