// Sum of a block by shuffles: each warp, then the first warp over the sums of all.
__device__ __inline__ int add_lanes(int v)
{
    for (int distance = warpSize >> 1; distance; distance >>= 1) v += __shfl_down_sync(0xffffffffu, v, distance);
    return v;
}

__device__ __inline__ int add_threads(int v)
{
    static __shared__ int of_warps[32];
    const int lane = threadIdx.x & (warpSize - 1), warp = threadIdx.x / warpSize;
    v = add_lanes(v);
    if (!lane) of_warps[warp] = v;
    __syncthreads();
    const int n_warps = blockDim.x / warpSize;
    v = lane < n_warps ? of_warps[lane] : 0;
    if (warp == 0) v = add_lanes(v);
    return v;
}

__global__ void reduce_shuffle(const int *values, int *sums, int n)
{
    int mine = 0;
    const int step = gridDim.x * blockDim.x;
    for (int k = blockIdx.x * blockDim.x + threadIdx.x; k < n; k += step) mine += values[k];
    int all = add_threads(mine);
    if (threadIdx.x == 0) sums[blockIdx.x] = all;
}
