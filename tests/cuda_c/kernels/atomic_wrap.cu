// atomicInc and atomicDec wrap at a bound.
__global__ void atomic_wrap(unsigned *counters, int *slots, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned slot = atomicInc(&counters[0], 9);
    atomicAdd(&slots[slot], 1);
    atomicDec(&counters[1], 6u);
}
