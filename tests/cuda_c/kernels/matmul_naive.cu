// C = A * B, one element for each thread. A is m by k, B is k by n.
__global__ void matmul_naive(const float *A, const float *B, float *C, int m, int n, int k)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    if (row < m && col < n) {
        float acc = 0.0f;
        for (int l = 0; l < k; ++l) acc += A[row * k + l] * B[l * n + col];
        C[row * n + col] = acc;
    }
}
