// Monte Carlo: points of a generator for each thread that lie within a circle.
__device__ unsigned int xorshift(unsigned int *state)
{
    unsigned int x = *state;
    x ^= x << 13;
    x ^= x >> 17;
    x ^= x << 5;
    return *state = x;
}

__global__ void pi_xorshift(unsigned int seed, int trials, unsigned int *hits)
{
    unsigned int state = (seed ^ (blockIdx.x * blockDim.x + threadIdx.x) * 0x9E3779B9u) | 1;
    unsigned int inside = 0;
    for (int t = 0; t < trials; ++t) {
        unsigned int x = xorshift(&state) >> 17, y = xorshift(&state) >> 17;
        if (x * x + y * y < 0x40000000u) ++inside;
    }
    atomicAdd(hits, inside);
}
