// A loop of different lengths for each thread, then a barrier.
__global__ void divergent_loop_then_barrier(const int *in, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int v = in[i], steps = 0;
    while (v > 1) {
        if (v % 7 == 0) break;
        v = v & 1 ? v - 1 : v / 2;
        steps++;
    }
    tile[t] = steps;
    __syncthreads();
    out[i] = tile[t] * 100 + tile[(t + 32) % 64];
}
