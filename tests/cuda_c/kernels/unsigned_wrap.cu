// Unsigned arithmetic is modulo 2^32.
__global__ void unsigned_wrap(const unsigned int *a, const unsigned *b, unsigned int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned int x = a[i], y = b[i];
    out[4 * i] = x + y * 2654435761u;
    out[4 * i + 1] = x - y;
    out[4 * i + 2] = x * x * y;
    out[4 * i + 3] = -x ^ (~y + 1U);
}
