// A barrier within a device function, called in a loop.
__device__ int exchange(int *tile, int value, int partner)
{
    tile[threadIdx.x] = value;
    __syncthreads();
    int other = tile[partner];
    __syncthreads();
    return other;
}

__global__ void barrier_in_function(const int *in, int *out)
{
    __shared__ int tile[64];
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    for (int mask = 1; mask < 64; mask *= 2) {
        int other = exchange(tile, v, threadIdx.x ^ mask);
        v = (threadIdx.x & mask) ? v - other : v + other;
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = v;
}
