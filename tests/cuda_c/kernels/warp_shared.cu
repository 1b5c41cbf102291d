// Exchange through shared memory within a warp, ordered by __syncwarp.
__global__ void warp_shared(const int *in, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x, i = blockIdx.x * 64 + t;
    int warp = t / 32 * 32, lane = t % 32;
    tile[t] = in[i];
    __syncwarp();
    int v = tile[warp + (lane + 1) % 32];
    __syncwarp();
    tile[t] = v * 2;
    __syncwarp();
    out[i] = tile[warp + (lane + 31) % 32] + v;
}
