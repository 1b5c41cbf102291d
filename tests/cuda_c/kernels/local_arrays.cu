// Local arrays of one and two dimensions with dynamic indices.
__global__ void local_arrays(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int grid[3][4];
    int order[4] = {3, 1, 2};
    float weights[] = {0.5f, 1.5f, 2.5f};
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            grid[r][c] = in[i] * r + c;
    int *row = grid[in[i] & 1];
    row[3] = -9;
    int sorted[4];
    for (int k = 0; k < 4; k++) sorted[order[k]] = grid[2][k];
    out[i] = grid[0][3] + grid[1][3] * 10 + sorted[i & 3] * 100 + (int)(weights[i % 3] * 2.0f);
}
