// Dynamic shared memory, divided into an array of floats and one of integers.
extern __shared__ float storage[];

__global__ void dynamic_shared(const float *in, const int *keys, float *out, int *found, int n)
{
    float *values = storage;
    int *order = (int *)&storage[blockDim.x];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    values[t] = i < n ? in[i] : -1.0f;
    order[t] = i < n ? keys[i] & (blockDim.x - 1) : 0;
    __syncthreads();
    if (i < n) {
        out[i] = values[order[t]];
        found[i] = order[blockDim.x - 1 - t];
    }
}
