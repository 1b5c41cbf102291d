// Exits in some threads around barriers and warp functions.
__global__ void exits(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    __shared__ bool done;
    int t = threadIdx.x;
    int i = blockIdx.x * blockDim.x + t;
    if (t == 0) done = false;
    int found = -1;
    for (int round = 0; round < 4; round++) {
        __syncthreads();
        if (i + round < n) tile[t] = in[i + round];
        else tile[t] = 0;
        __syncthreads();
        if (tile[t] == 7) { found = round; continue; }
        for (int k = 0; k < 3; k++) {
            if (tile[(t + k) & 63] < 0) return;
            switch (tile[t]) { case 100: return; case 101: break; default: found--; }
        }
        if (found > 100) break;
    }
    __syncthreads();
    if (t == 5) done = true;
    __syncthreads();
    while (!done) { __syncthreads(); if (t == 0) done = true; __syncthreads(); }
    out[i] = found;
}

__global__ void votes(const int *in, unsigned int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        unsigned int b = __ballot_sync(0xffffffffu, in[i] > 3);
        if (__any_sync(0xffffffffu, in[i] == 9)) b |= 1u << 31;
        int total = in[i];
        for (int m = 16; m > 0; m >>= 1) total += __shfl_xor_sync(0xffffffffu, total, m);
        out[i] = b + total + __reduce_add_sync(0xffffffffu, i);
    }
}

// Endless loops with barriers, which threads leave one by one.
__global__ void endless(const int *in, int *out, int n)
{
    __shared__ int best;
    int t = threadIdx.x;
    int start = 0;
    if (t == 0) best = n;
    __syncthreads();
    while (true) {
        if (in[start + t] == 5) atomicMin(&best, start + t);
        __syncthreads();
        if (best < n) break;
        start += blockDim.x;
        if (start >= n) break;
        __syncthreads();
    }
    for (;;) {
        __syncthreads();
        if (in[t] == start) return;
        start++;
    }
    out[t] = best;
}

__global__ void endless_do(const int *in, int *out)
{
    int t = threadIdx.x;
    int sum = 0;
    do {
        __syncthreads();
        sum += in[t];
        if (sum > 10) break;
    } while (1);
    out[t] = sum;
}

// Pointers that swap between two shared arrays.
__global__ void scan_swapped(const float *in, float *out)
{
    __shared__ float a[64];
    __shared__ float b[64];
    int t = threadIdx.x;
    float *from = a, *to = b;
    from[t] = in[t];
    __syncthreads();
    for (int step = 1; step < 64; step *= 2) {
        to[t] = t >= step ? from[t] + from[t - step] : from[t];
        __syncthreads();
        float *other = from;
        from = to;
        to = other;
    }
    float *chosen = t & 1 ? from : to;
    out[t] = from[t] + chosen[0] * 0.0f;
}
