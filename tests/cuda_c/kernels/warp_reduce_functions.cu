// The reductions that newer devices have as one instruction.
__global__ void warp_reduce_functions(const int *in, int *out, unsigned *bits)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int sum = __reduce_add_sync(0xffffffff, in[i]);
    int least = __reduce_min_sync(0xffffffff, in[i]);
    int greatest = __reduce_max_sync(0xffffffff, in[i]);
    unsigned all = __reduce_and_sync(0xffffffff, (unsigned)in[i] | 1u);
    unsigned some = __reduce_or_sync(0xffffffff, (unsigned)in[i]);
    unsigned odd = __reduce_xor_sync(0xffffffff, (unsigned)in[i]);
    out[i] = sum + least * 3 + greatest * 7;
    bits[i] = all ^ (some << 1) ^ (odd << 2);
}
