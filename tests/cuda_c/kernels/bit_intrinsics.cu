// Integer intrinsics.
__global__ void bit_intrinsics(const unsigned *x, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = x[i];
    int *o = &out[8 * i];
    o[0] = __popc(v);
    o[1] = __clz(v);
    o[2] = __ffs(v);
    o[3] = __brev(v);
    o[4] = __umulhi(v, 0x9e3779b9u);
    o[5] = __mulhi((int)v, -123456789);
    o[6] = __mul24(v & 0xfff, 77) + __umul24(v & 0xff, 3u);
    o[7] = 31 - __clz((int)(v | 1));
}
