// A loop of atomicCAS: the product modulo a prime.
__global__ void atomic_compare(const unsigned *in, unsigned *product, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned seen = *product, expected;
    do {
        expected = seen;
        seen = atomicCAS(product, expected, expected * in[i] % 65521u);
    } while (seen != expected);
}
