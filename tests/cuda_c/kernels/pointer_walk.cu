// Pointers that move: *p++, p += k, *(p - 1), and their differences and comparisons.
__global__ void pointer_walk(const int *in, int *out, int length, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int *p = in + i * length;
    const int *const end = p + length;
    int sum = 0;
    while (p < end) sum = sum * 3 + *p++;
    const int *largest = end - 1;
    for (const int *q = end - 1; q >= in + i * length; --q)
        if (*q > *largest) largest = q;
    out[2 * i] = sum + *(p - 1);
    int *o = out;
    o += 2 * i;
    o[1] = largest - (in + i * length);
}
