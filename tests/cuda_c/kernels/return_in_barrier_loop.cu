// Threads leave a loop with barriers by returning, one after the other.
__global__ void return_in_barrier_loop(const int *in, int *out, int rounds)
{
    __shared__ int total;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 63) total = 0;
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        if (t == 63) total += r + 1;
        __syncthreads();
        int seen = total;
        if (in[i] == r) {
            out[i] = seen;
            return;
        }
        __syncthreads();
    }
    out[i] = -total;
}
