// A static shared array: each block is reversed.
__global__ void shared_reverse(int *data)
{
    __shared__ int tile[128];
    int t = threadIdx.x;
    int base = blockIdx.x * blockDim.x;
    tile[t] = data[base + t];
    __syncthreads();
    data[base + t] = tile[blockDim.x - 1 - t];
}
