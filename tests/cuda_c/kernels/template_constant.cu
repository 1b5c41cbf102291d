// A template over constants, with branches on them, and a device template instantiated in different ways.
template <int SIZE>
__device__ int weigh(const int *window)
{
    int sum = 0;
    for (int k = 0; k < SIZE; ++k) sum += window[k] * (SIZE - k);
    return sum;
}

template <unsigned int LENGTH, bool NEGATE>
__global__ void template_constant(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int window[LENGTH + 2];
    for (unsigned k = 0; k < LENGTH + 2; k++) window[k] = in[(i + k) % n];
    int r = weigh<LENGTH>(window) + weigh<2>(window + 1);
    if (NEGATE) r = -r;
    out[i] = r;
}
