// One sweep of Jacobi's method with the change of each row.
__global__ void jacobi(const float *A, const float *b, const float *x, float *x_new, float *change, int n)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= n) return;
    float sigma = 0.0f;
    for (int col = 0; col < n; col++) {
        if (col != row) sigma += A[row * n + col] * x[col];
    }
    float value = (b[row] - sigma) / A[row * n + row];
    x_new[row] = value;
    change[row] = fabsf(value - x[row]);
}
