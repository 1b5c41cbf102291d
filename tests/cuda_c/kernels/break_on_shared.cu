// An endless loop that all threads leave when one has found something.
__global__ void break_on_shared(const int *in, int *found, int n)
{
    __shared__ int best;
    if (threadIdx.x == 0) best = n;
    __syncthreads();
    int start = 0;
    while (true) {
        int i = start + threadIdx.x;
        if (i < n && in[blockIdx.x * n + i] == 7) atomicMin(&best, i);
        __syncthreads();
        if (best < n) break;
        start += blockDim.x;
        if (start >= n) break;
        __syncthreads();
    }
    if (threadIdx.x == 0) found[blockIdx.x] = best < n ? best : -1;
}
