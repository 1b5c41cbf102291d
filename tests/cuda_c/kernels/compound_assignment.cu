// Every operator that assigns.
__global__ void compound_assignment(int *data, float *reals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int v = data[i];
    v += 17;
    v -= i;
    v *= 3;
    v /= 2;
    v %= 1000;
    v <<= 3;
    v >>= 1;
    v &= 0x7fff;
    v |= 0x10;
    v ^= 0x55;
    data[i] = v;
    data[i] += i;
    data[i] ^= data[i] >> 4;
    reals[i] += 1.5f;
    reals[i] -= 0.25f;
    reals[i] *= 4.0f;
    reals[i] /= 2;
    reals[i] += i;
}
