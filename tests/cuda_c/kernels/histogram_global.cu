// Histogram of bytes by atomics on global memory.
__global__ void histogram_global(const unsigned char *data, unsigned int *histogram, int size)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    int stride = blockDim.x * gridDim.x;
    while (i < size) {
        atomicAdd(&histogram[data[i]], 1);
        i += stride;
    }
}
