// atomicAdd on floats.
__global__ void atomic_float(const float *in, float *sums, int n)
{
    __shared__ float total;
    if (threadIdx.x == 0) total = 0.0f;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        atomicAdd(&sums[i % 5], in[i]);
        atomicAdd(&total, in[i]);
    }
    __syncthreads();
    if (threadIdx.x == 0) atomicAdd(sums + 5, total);
}
