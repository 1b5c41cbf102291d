// atomicAdd and atomicSub on signed and unsigned integers.
__global__ void atomic_arithmetic(const int *in, int *sums, unsigned *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAdd(&sums[i % 4], in[i]);
    atomicSub(&sums[4], in[i]);
    atomicAdd(counts + (in[i] & 1), 1u);
    atomicSub(&counts[2], 3);
}
