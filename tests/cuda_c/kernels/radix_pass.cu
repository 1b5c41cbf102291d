// One pass of a radix sort: a stable split of a block by each of four bits.
__global__ void radix_pass(unsigned *keys, int shift)
{
    __shared__ unsigned values[128];
    __shared__ unsigned ones[128];
    const unsigned t = threadIdx.x, n = blockDim.x;
    values[t] = keys[blockIdx.x * n + t];
    __syncthreads();
    for (int bit = shift; bit < shift + 4; ++bit) {
        unsigned v = values[t];
        unsigned is_one = (v >> bit) & 1u;
        ones[t] = is_one;
        __syncthreads();
        for (unsigned d = 1; d < n; d <<= 1) {
            unsigned add = t >= d ? ones[t - d] : 0u;
            __syncthreads();
            ones[t] += add;
            __syncthreads();
        }
        unsigned total = ones[n - 1];
        unsigned place = is_one ? n - total + ones[t] - 1u : t - ones[t];
        __syncthreads();
        values[place] = v;
        __syncthreads();
    }
    keys[blockIdx.x * n + t] = values[t];
}
