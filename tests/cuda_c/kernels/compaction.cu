// Positive elements of each block, in order, behind one another: a scan of flags and one atomic.
__global__ void compaction(const int *in, int *out, int *counts, int n)
{
    __shared__ int flags[64];
    int tid = threadIdx.x, i = blockIdx.x * blockDim.x + tid;
    int value = i < n ? in[i] : 0;
    bool keep = value > 0;
    flags[tid] = keep;
    for (int d = 1; d < 64; d <<= 1) {
        __syncthreads();
        int below = tid >= d ? flags[tid - d] : 0;
        __syncthreads();
        flags[tid] += below;
    }
    __syncthreads();
    if (keep) out[blockIdx.x * blockDim.x + flags[tid] - 1] = value;
    if (tid == blockDim.x - 1) counts[blockIdx.x] = flags[tid];
}
