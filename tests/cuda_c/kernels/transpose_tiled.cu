// Transpose through a padded tile; each thread moves four elements.
const int SIDE = 16;
const int ROWS = SIDE / 4;
__global__ void transpose_tiled(float *out, const float *in, int width, int height)
{
    __shared__ float tile[SIDE][SIDE + 1];
    const int left = blockIdx.x * SIDE, top = blockIdx.y * SIDE;
    for (int r = threadIdx.y; r < SIDE; r += ROWS) {
        int x = left + threadIdx.x, y = top + r;
        if (x < width && y < height) tile[r][threadIdx.x] = in[y * width + x];
    }
    __syncthreads();
    for (int r = threadIdx.y; r < SIDE; r += ROWS) {
        int x = top + threadIdx.x, y = left + r;
        if (x < height && y < width) out[y * height + x] = tile[threadIdx.x][r];
    }
}
