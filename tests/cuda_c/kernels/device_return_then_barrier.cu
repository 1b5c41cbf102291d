// A device function returns early in some threads; its caller has a barrier afterwards.
__device__ int steps_to_zero(int v, int limit)
{
    for (int k = 0; k < limit; k++) {
        if (v == 0) return k;
        v = v > 3 ? v - 3 : v - 1;
    }
    return limit;
}

__device__ void publish(int *tile, int value)
{
    if (value < 0) return;
    tile[threadIdx.x] = value;
}

__global__ void device_return_then_barrier(const int *in, int *out)
{
    __shared__ int tile[64];
    int i = blockIdx.x * 64 + threadIdx.x;
    tile[threadIdx.x] = -1;
    publish(tile, steps_to_zero(in[i], 12) - 4);
    __syncthreads();
    publish(tile, tile[threadIdx.x] - 100);
    __syncthreads();
    out[i] = tile[threadIdx.x ^ 5];
}
