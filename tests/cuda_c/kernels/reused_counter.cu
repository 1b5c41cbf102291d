// One counter for a loop that differs between threads, and for a loop with barriers, after which it is read.
__global__ void reused_counter(const int *in, int *out)
{
    __shared__ int sums[64];
    int i, t = threadIdx.x, own = 0;
    for (i = t; i < t + 3; i++) own += i;
    sums[t] = in[t];
    __syncthreads();
    for (i = 1; i <= 32; i = 2 * i) {
        int value = t >= i ? sums[t - i] : 0;
        __syncthreads();
        sums[t] += value;
        __syncthreads();
    }
    out[t] = sums[t] * 1000 + i + own;
}
