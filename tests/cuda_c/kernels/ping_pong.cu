// Two shared arrays whose pointers change roles in each round.
__global__ void ping_pong(const int *in, int *out, int rounds)
{
    __shared__ int first[64];
    __shared__ int second[64];
    int *source = first, *target = second;
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    source[t] = in[i];
    __syncthreads();
    for (int r = 0; r < rounds; r++) {
        target[t] = source[(t + 1) & 63] + source[t];
        __syncthreads();
        int *swap = source;
        source = target;
        target = swap;
    }
    out[i] = source[t];
}
