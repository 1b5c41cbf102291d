// One step of Gaussian elimination: rows below the pivot.
__global__ void gauss_step(float *matrix, float *right, int size, int pivot)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y + pivot + 1;
    if (row >= size) return;
    float factor = matrix[row * size + pivot] / matrix[pivot * size + pivot];
    int first = blockIdx.x * blockDim.x + threadIdx.x;
    for (int column = pivot + 1 + first; column < size; column += blockDim.x * gridDim.x)
        matrix[row * size + column] -= factor * matrix[pivot * size + column];
    if (first == 0) right[row] -= factor * right[pivot];
}
