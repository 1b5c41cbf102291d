// Atomics on a shared array that is also read and written plainly, then on its result.
__global__ void atomic_shared(const int *in, int *bins, int *largest, int n)
{
    __shared__ int local[16];
    __shared__ int top;
    int t = threadIdx.x;
    if (t < 16) local[t] = 0;
    if (t == 0) top = -1;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x) {
        atomicAdd(&local[in[i] & 15], 1);
        atomicMax(&top, in[i]);
    }
    __syncthreads();
    if (t < 16 && local[t]) atomicAdd(&bins[t], local[t]);
    if (t == 0) atomicMax(largest, top);
}
