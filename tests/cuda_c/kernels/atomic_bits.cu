// atomicAnd, atomicOr and atomicXor.
__global__ void atomic_bits(const unsigned *in, unsigned *out, int *flags, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    atomicAnd(&out[0], in[i] | 0xff00u);
    atomicOr(&out[1], in[i] & 0x0f0f0f0f);
    atomicXor(&out[2], in[i]);
    atomicOr(&flags[i / 32], 1 << (i % 32));
}
