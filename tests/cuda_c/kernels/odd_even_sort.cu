// Odd-even transposition sort of a block.
__global__ void odd_even_sort(float *keys, int *values, int n)
{
    __shared__ float k[64];
    __shared__ int v[64];
    int t = threadIdx.x, base = blockIdx.x * 64;
    k[t] = base + t < n ? keys[base + t] : 3.0e38f;
    v[t] = base + t < n ? values[base + t] : -1;
    __syncthreads();
    for (int phase = 0; phase < 64; ++phase) {
        if ((t & 1) == (phase & 1) && t + 1 < 64 && k[t] > k[t + 1]) {
            float tk = k[t]; k[t] = k[t + 1]; k[t + 1] = tk;
            int tv = v[t]; v[t] = v[t + 1]; v[t + 1] = tv;
        }
        __syncthreads();
    }
    if (base + t < n) { keys[base + t] = k[t]; values[base + t] = v[t]; }
}
