// A sum by __shfl_down_sync, of integers and floats.
__global__ void warp_reduce_down(const int *in, int *out, float *real_out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    float f = in[i] * 0.5f;
    for (int offset = 16; offset > 0; offset /= 2) {
        v += __shfl_down_sync(0xffffffff, v, offset);
        f += __shfl_down_sync(0xffffffffu, f, offset);
    }
    if (threadIdx.x % warpSize == 0) {
        out[i / 32] = v;
        real_out[i / 32] = f;
    }
}
