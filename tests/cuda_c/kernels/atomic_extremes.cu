// atomicMin and atomicMax, signed and unsigned.
__global__ void atomic_extremes(const int *in, int *least, int *greatest, unsigned *extremes, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicMin(&least[i % 3], in[i]);
    atomicMax(greatest, in[i]);
    atomicMin(&extremes[0], (unsigned)in[i]);
    atomicMax(&extremes[1], (unsigned)in[i]);
}
