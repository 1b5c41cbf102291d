// Rows of arrays of two dimensions as pointers, and sizes of arrays.
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
__device__ int sum_row(int row[8]) { int s = 0; for (int k = 0; k < 8; k++) s += row[k]; return s; }
__device__ int corner(const int *upper, const int *lower) { return upper[0] + lower[7]; }

__global__ void pointer_to_row(const int *in, int *out)
{
    __shared__ int grid[5][8];
    int t = threadIdx.x;
    for (int k = t; k < 40; k += blockDim.x) grid[k / 8][k % 8] = in[blockIdx.x * 40 + k];
    __syncthreads();
    if (t < COUNT(grid)) out[blockIdx.x * 10 + t] = sum_row(grid[t]);
    else if (t < 2 * COUNT(grid) - 1) out[blockIdx.x * 10 + t] = corner(grid[t - COUNT(grid)], grid[t - COUNT(grid) + 1]);
    else if (t == 9) out[blockIdx.x * 10 + 9] = sizeof(grid) + COUNT(grid[0]);
}
