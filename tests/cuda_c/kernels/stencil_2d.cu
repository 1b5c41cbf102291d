// Five-point stencil through a tile with a halo.
#define BX 16
#define BY 8
__global__ void stencil_2d(const float *in, float *out, int width, int height, float c)
{
    __shared__ float tile[BY + 2][BX + 2];
    int x = blockIdx.x * BX + threadIdx.x, y = blockIdx.y * BY + threadIdx.y;
    int tx = threadIdx.x + 1, ty = threadIdx.y + 1;
    int cx = min(x, width - 1), cy = min(y, height - 1);
    tile[ty][tx] = in[cy * width + cx];
    if (threadIdx.x == 0) tile[ty][0] = in[cy * width + max(cx - 1, 0)];
    if (threadIdx.x == BX - 1) tile[ty][BX + 1] = in[cy * width + min(cx + 1, width - 1)];
    if (threadIdx.y == 0) tile[0][tx] = in[max(cy - 1, 0) * width + cx];
    if (threadIdx.y == BY - 1) tile[BY + 1][tx] = in[min(cy + 1, height - 1) * width + cx];
    __syncthreads();
    if (x <= 0 || y <= 0 || x >= width - 1 || y >= height - 1) return;
    float center = tile[ty][tx];
    out[y * width + x] = center + c * (tile[ty][tx - 1] + tile[ty][tx + 1] + tile[ty - 1][tx] + tile[ty + 1][tx] - 4.0f * center);
}
