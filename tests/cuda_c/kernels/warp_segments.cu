// Shuffles within segments of 8 and 16 lanes.
__global__ void warp_segments(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int v = in[i];
    int down = __shfl_down_sync(0xffffffff, v, 3, 8);
    int up = __shfl_up_sync(0xffffffff, v, 2, 16);
    int turned = __shfl_xor_sync(0xffffffff, v, 4, 8);
    int head = __shfl_sync(0xffffffff, v, 1, 8);
    out[i] = down + 10 * up + 100 * turned + 1000 * head;
}
