// Vectors of bytes and of shorts.
__global__ void small_vectors(const uchar4 *in, uchar4 *out, short2 *pairs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uchar4 p = in[i];
    unsigned char grey = (p.x + p.y + p.z) / 3;
    out[i] = make_uchar4(grey, p.x, 255 - p.y, p.w + 10);
    short2 pair;
    pair.x = p.x - p.y;
    pair.y = (short)(p.z * 300);
    pairs[i] = pair;
}
