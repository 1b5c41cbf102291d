// Sparse matrix times vector, one warp for each row: each lane's sum through shared memory.
__global__ void spmv_vector(const int *row_offsets, const int *columns, const float *values, const float *x, float *y, int n_rows)
{
    int thread_id = blockDim.x * blockIdx.x + threadIdx.x;
    int row = thread_id / 32;
    int lane = thread_id & 31;
    float sum = 0.0f;
    if (row < n_rows) {
        for (int j = row_offsets[row] + lane; j < row_offsets[row + 1]; j += 32) sum += values[j] * x[columns[j]];
    }
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0 && row < n_rows) y[row] = sum;
}
