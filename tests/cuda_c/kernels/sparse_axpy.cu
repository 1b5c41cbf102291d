// y += a * x for a sparse x.
__global__ void sparse_axpy(float a, const int *indices, const float *values, float *y, int n_nonzero)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n_nonzero) return;
    y[indices[i]] += a * values[i];
}
