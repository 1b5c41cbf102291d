// The last block to finish adds up the results of all.
__global__ void last_block(const int *in, int *partial, unsigned *finished, int *out, int n)
{
    __shared__ int sum;
    __shared__ bool is_last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sum, in[i]);
    __syncthreads();
    if (threadIdx.x == 0) {
        atomicExch(&partial[blockIdx.x], sum);
        __threadfence();
        unsigned ticket = atomicInc(finished, gridDim.x - 1);
        is_last = ticket == gridDim.x - 1;
    }
    __syncthreads();
    if (is_last) {
        if (threadIdx.x == 0) sum = 0;
        __syncthreads();
        if (threadIdx.x < gridDim.x) atomicAdd(&sum, atomicAdd(&partial[threadIdx.x], 0));
        __syncthreads();
        if (threadIdx.x == 0) *out = sum;
    }
}
