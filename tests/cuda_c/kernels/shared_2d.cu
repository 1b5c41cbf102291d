// Shared arrays of two dimensions with a padded row, and one of three.
#define SIDE 8
__global__ void shared_2d(const int *in, int *out)
{
    __shared__ int tile[SIDE][SIDE + 1];
    __shared__ short cube[2][SIDE][SIDE];
    int x = threadIdx.x, y = threadIdx.y;
    int at = blockIdx.x * SIDE * SIDE + y * SIDE + x;
    tile[y][x] = in[at];
    cube[0][y][x] = x - y;
    cube[1][x][y] = in[at] >> 2;
    __syncthreads();
    out[at] = tile[x][y] * 10 + cube[0][x][y] + cube[1][y][(x + 1) % SIDE];
}
