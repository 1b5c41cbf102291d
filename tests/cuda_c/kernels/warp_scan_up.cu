// An inclusive scan by __shfl_up_sync.
__global__ void warp_scan_up(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    int v = in[i];
    for (int d = 1; d < 32; d <<= 1) {
        int below = __shfl_up_sync(0xffffffff, v, d);
        if (lane >= d) v += below;
    }
    out[i] = v;
}
