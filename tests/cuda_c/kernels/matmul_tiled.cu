// C = A * B through tiles in shared memory.
template <int TILE>
__global__ void matmul_tiled(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int m, int n, int k)
{
    __shared__ float As[TILE][TILE];
    __shared__ float Bs[TILE][TILE];
    int tx = threadIdx.x, ty = threadIdx.y;
    int row = blockIdx.y * TILE + ty;
    int col = blockIdx.x * TILE + tx;
    float acc = 0.0f;
    for (int t = 0; t < (k + TILE - 1) / TILE; ++t) {
        As[ty][tx] = (row < m && t * TILE + tx < k) ? A[row * k + t * TILE + tx] : 0.0f;
        Bs[ty][tx] = (t * TILE + ty < k && col < n) ? B[(t * TILE + ty) * n + col] : 0.0f;
        __syncthreads();
#pragma unroll
        for (int l = 0; l < TILE; ++l) acc += As[ty][l] * Bs[l][tx];
        __syncthreads();
    }
    if (row < m && col < n) C[row * n + col] = acc;
}
