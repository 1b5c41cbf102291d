// __shfl_sync from one lane, and from a lane that each thread computes.
__global__ void warp_broadcast(const int *in, int *out, unsigned *mixed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x % 32;
    int first = __shfl_sync(0xffffffff, in[i], 0);
    int gathered = __shfl_sync(0xffffffff, in[i], (lane * 7 + 3) % 32);
    out[i] = first * 1000 + gathered;
    mixed[i] = __shfl_sync(0xffffffff, (unsigned)i * 3u, 31 - lane);
}
