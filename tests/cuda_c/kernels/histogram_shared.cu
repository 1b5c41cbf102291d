// Histogram of words: a copy for each block in shared memory.
#define BINS 64
__global__ void histogram_shared(const unsigned *data, unsigned *histogram, int n)
{
    __shared__ unsigned bins[BINS];
    for (int b = threadIdx.x; b < BINS; b += blockDim.x) bins[b] = 0u;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(bins + (data[i] >> 26), 1u);
    __syncthreads();
    for (int b = threadIdx.x; b < BINS; b += blockDim.x)
        if (bins[b] > 0) atomicAdd(&histogram[b], bins[b]);
}
