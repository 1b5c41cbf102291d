// Lanes of a block of two dimensions are numbered row by row.
__global__ void warp_plane(const int *in, int *out)
{
    int t = threadIdx.y * blockDim.x + threadIdx.x;
    int i = blockIdx.x * blockDim.x * blockDim.y + t;
    int v = in[i];
    v += __shfl_xor_sync(0xffffffff, v, 16);
    v += __shfl_down_sync(0xffffffff, v, 8);
    out[i] = (t & 31) < 8 ? v : -1;
}
