// __any_sync and __all_sync.
__global__ void warp_votes(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int any = __any_sync(0xffffffff, in[i] > 95);
    int all = __all_sync(0xffffffff, in[i] < 97);
    out[i] = (any ? 1 : 0) + (all ? 2 : 0);
}
