// One atomic for each warp: the first lane adds for all and broadcasts the base.
__global__ void warp_aggregate(const int *in, int *counter, int *kept, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    bool keep = i < n && in[i] > 0;
    unsigned mask = __ballot_sync(0xffffffff, keep);
    int base = 0;
    if (lane == 0 && mask != 0) base = atomicAdd(counter, __popc(mask));
    base = __shfl_sync(0xffffffff, base, 0);
    if (keep) atomicAdd(&kept[base + __popc(mask & ((1u << lane) - 1u))], 1);
}
