// A grid and blocks of two dimensions.
__global__ void index_2d(const int *in, int *out, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int tid = threadIdx.y * blockDim.x + threadIdx.x;
    out[y * width + x] = in[x * height + y] + tid * 1000 + (gridDim.x * gridDim.y) * 1000000;
}
