// Bitonic sort of a block in shared memory.
__device__ inline void compare_exchange(int &a, int &b, bool ascending)
{
    if ((a > b) == ascending) {
        int t = a;
        a = b;
        b = t;
    }
}

__global__ void bitonic_sort(int *data)
{
    __shared__ int s[256];
    const unsigned int tid = threadIdx.x;
    s[tid] = data[blockIdx.x * 256 + tid];
    __syncthreads();
    for (unsigned int k = 2; k <= 256; k *= 2) {
        for (unsigned int j = k / 2; j > 0; j /= 2) {
            unsigned int ixj = tid ^ j;
            if (ixj > tid) compare_exchange(s[tid], s[ixj], (tid & k) == 0);
            __syncthreads();
        }
    }
    data[blockIdx.x * 256 + tid] = s[tid];
}
