// The bound of a loop with barriers comes from a buffer that the kernel also writes.
__global__ void bound_from_written_buffer(int *state, const int *in, int *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    int rounds = state[blockIdx.x];
    tile[t] = in[blockIdx.x * 32 + t];
    __syncthreads();
    while (rounds > 0) {
        int v = tile[(t + 1) % 32];
        __syncthreads();
        tile[t] = v + 1;
        __syncthreads();
        rounds--;
    }
    out[blockIdx.x * 32 + t] = tile[t];
    if (t == 0) state[blockIdx.x] = -1;
}
