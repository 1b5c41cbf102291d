// Buffers of 16-bit integers.
__global__ void short_buffer(const short *a, const unsigned short *b, short *sums, unsigned short *products, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    sums[i] = a[i] + b[i];
    products[i] = a[i] * b[i];
}
