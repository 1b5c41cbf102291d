// bool has one byte in buffers and in shared memory.
__global__ void bool_buffers(const bool *in, bool *out, int *counts, int n)
{
    __shared__ bool flags[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    flags[t] = i < n && in[i];
    __syncthreads();
    bool both = flags[t] & flags[t ^ 1];
    if (i < n) {
        out[i] = !both;
        counts[i] = flags[t] + flags[(t + 1) & 63] * 2;
    }
}
