// __byte_perm and funnel shifts.
__global__ void byte_permute(const unsigned *a, const unsigned *b, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[4 * i] = __byte_perm(a[i], b[i], 0x0123);
    out[4 * i + 1] = __byte_perm(a[i], b[i], 0x7531);
    out[4 * i + 2] = __funnelshift_l(a[i], b[i], i);
    out[4 * i + 3] = __funnelshift_r(a[i], b[i], i);
}
