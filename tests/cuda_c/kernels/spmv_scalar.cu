// Sparse matrix times vector in compressed rows, one thread for each row.
__global__ void spmv_scalar(const int *offsets, const int *columns, const float *values, const float *x, float *y, int n_rows)
{
    int r = blockDim.x * blockIdx.x + threadIdx.x;
    if (r >= n_rows) return;
    float sum = 0;
    for (int k = offsets[r], end = offsets[r + 1]; k < end; ++k) sum += values[k] * x[columns[k]];
    y[r] = sum;
}
