// Shuffles in a loop of uniform length, with divergent code between them.
__global__ void warp_loop(const int *in, int *out, int rounds)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    for (int r = 0; r < rounds; r++) {
        int other = __shfl_sync(0xffffffff, v, (threadIdx.x + r + 1) & 31);
        if (other > v) v = other - 1;
        else if ((v & 3) == 2) v -= 3;
    }
    out[i] = v;
}
