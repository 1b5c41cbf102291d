// Sum of a block by a template with an unrolled tail.
template <unsigned int blockSize>
__global__ void reduce_unrolled(const float *in, float *out, unsigned int n)
{
    __shared__ float s[blockSize];
    unsigned int tid = threadIdx.x;
    float sum = 0;
    for (unsigned int i = blockIdx.x * blockSize + tid; i < n; i += blockSize * gridDim.x) sum += in[i];
    s[tid] = sum;
    __syncthreads();
    if (blockSize >= 256) { if (tid < 128) { s[tid] += s[tid + 128]; } __syncthreads(); }
    if (blockSize >= 128) { if (tid < 64) { s[tid] += s[tid + 64]; } __syncthreads(); }
    if (blockSize >= 64) { if (tid < 32) { s[tid] += s[tid + 32]; } __syncthreads(); }
    if (tid < 16) s[tid] += s[tid + 16];
    __syncthreads();
    if (tid < 8) s[tid] += s[tid + 8];
    __syncthreads();
    if (tid < 4) s[tid] += s[tid + 4];
    __syncthreads();
    if (tid == 0) out[blockIdx.x] = s[0] + s[1] + s[2] + s[3];
}
