// Game of life on a torus of bytes.
__global__ void life(const unsigned char *cells, unsigned char *next, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    int left = (x + width - 1) % width, right = (x + 1) % width;
    int up = (y + height - 1) % height * width, down = (y + 1) % height * width;
    int row = y * width;
    int alive = cells[up + left] + cells[up + x] + cells[up + right] + cells[row + left] + cells[row + right]
              + cells[down + left] + cells[down + x] + cells[down + right];
    next[row + x] = alive == 3 || (alive == 2 && cells[row + x]);
}
