// Shared scalars, written by one thread and read by all.
__global__ void shared_scalar(const float *in, float *out, int n)
{
    __shared__ float mean;
    __shared__ int count, first;
    if (threadIdx.x == 0) {
        float sum = 0.0f;
        count = min(n - (int)(blockIdx.x * blockDim.x), (int)blockDim.x);
        first = blockIdx.x * blockDim.x;
        for (int k = 0; k < count; k++) sum += in[first + k];
        mean = sum / count;
    }
    __syncthreads();
    if (threadIdx.x < count) out[first + threadIdx.x] = in[first + threadIdx.x] - mean;
}
