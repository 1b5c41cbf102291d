// __ballot_sync: counts and ranks of lanes with a predicate.
__global__ void warp_ballot(const int *in, unsigned *masks, int *ranks)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int lane = threadIdx.x & 31;
    bool odd = in[i] & 1;
    unsigned mask = __ballot_sync(0xffffffff, odd);
    int before = __popc(mask & ((1u << lane) - 1));
    if (lane == 0) masks[i / 32] = mask;
    ranks[i] = odd ? before : -__popc(mask);
}
