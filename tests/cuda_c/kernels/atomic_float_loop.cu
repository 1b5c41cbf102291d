// The maximum of floats, by atomicCAS on their bits.
__device__ static float atomic_max(float *address, float value)
{
    int *as_int = (int *)address;
    int old = *as_int, assumed;
    do {
        assumed = old;
        old = atomicCAS(as_int, assumed, __float_as_int(fmaxf(value, __int_as_float(assumed))));
    } while (assumed != old);
    return __int_as_float(old);
}

__global__ void atomic_float_loop(const float *in, float *greatest, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) atomic_max(&greatest[i & 1], in[i]);
}
