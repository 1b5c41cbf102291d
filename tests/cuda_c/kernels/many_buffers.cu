// More buffers than WebGPU's default limit of 8.
__global__ void many_buffers(const int *a, const int *b, const int *c, const int *d, const int *e, const int *f,
                             const int *g, const int *h, int *sums, int *differences)
{
    int i = threadIdx.x;
    sums[i] = a[i] + b[i] + c[i] + d[i] + e[i] + f[i] + g[i] + h[i];
    differences[i] = a[i] - b[i] + c[i] - d[i] + e[i] - f[i] + g[i] - h[i];
}
