template <typename T>
__device__ __forceinline__ T warp_sum(T value)
{
    for (int offset = warpSize / 2; offset > 0; offset /= 2)
        value += __shfl_down_sync(0xffffffff, value, offset);
    return value;
}

__device__ float block_sum(float value)
{
    static __shared__ float partial[32];
    int lane = threadIdx.x % warpSize;
    int warp = threadIdx.x / warpSize;
    value = warp_sum(value);
    if (lane == 0) partial[warp] = value;
    __syncthreads();
    value = threadIdx.x < blockDim.x / warpSize ? partial[lane] : 0.0f;
    if (warp == 0) value = warp_sum<float>(value);
    return value;
}

__global__ void reduce_warps(const float *in, float *out, int n)
{
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
    sum = block_sum(sum);
    if (threadIdx.x == 0) atomicAdd(out, sum);
}

// An early return before barriers.
__global__ void reduce_early(const int *in, int *out, int n)
{
    extern __shared__ int cache[];
    unsigned int tid = threadIdx.x;
    unsigned int i = blockIdx.x * blockDim.x + tid;
    cache[tid] = 0;
    if (i >= n) return;
    cache[tid] = in[i];
    __syncthreads();
    for (unsigned int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (tid < s) cache[tid] += cache[tid + s];
        __syncthreads();
    }
    if (tid == 0) out[blockIdx.x] = cache[0];
}
