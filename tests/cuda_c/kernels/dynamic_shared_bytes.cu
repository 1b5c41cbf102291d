// Dynamic shared memory declared as bytes, used as integers.
__global__ void dynamic_shared_bytes(const int *in, int *out)
{
    extern __shared__ unsigned char raw[];
    int *tile = reinterpret_cast<int *>(raw);
    tile[threadIdx.x] = in[blockIdx.x * blockDim.x + threadIdx.x];
    __syncthreads();
    int left = threadIdx.x > 0 ? tile[threadIdx.x - 1] : 0;
    out[blockIdx.x * blockDim.x + threadIdx.x] = tile[threadIdx.x] - left;
}
