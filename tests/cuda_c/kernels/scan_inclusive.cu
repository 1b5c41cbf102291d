// Inclusive scan of each block with two buffers that change roles (Hillis and Steele).
__global__ void scan_inclusive(const int *in, int *out, int n)
{
    __shared__ int rows[2][128];
    const int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    int *from = rows[0], *to = rows[1];
    unsigned flip = 0;
    rows[0][t] = i < n ? in[i] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d += d) {
        from = rows[flip];
        to = rows[flip ^ 1];
        to[t] = t < d ? from[t] : from[t] + from[t - d];
        flip ^= 1;
        __syncthreads();
    }
    if (i < n) out[i] = to[t];
}
