// C = A * B, four columns for each thread, kept in registers.
#define BLOCK 8
#define COLUMNS 4
__global__ void matmul_registers(const float *A, const float *B, float *C, int n)
{
    __shared__ float tile_a[BLOCK][BLOCK];
    __shared__ float tile_b[BLOCK][BLOCK * COLUMNS];
    float acc[COLUMNS] = {0.0f};
    const int row = blockIdx.y * BLOCK + threadIdx.y;
    const int left = blockIdx.x * BLOCK * COLUMNS;
    for (int base = 0; base < n; base += BLOCK) {
        tile_a[threadIdx.y][threadIdx.x] = A[row * n + base + threadIdx.x];
        for (int c = 0; c < COLUMNS; c++)
            tile_b[threadIdx.y][c * BLOCK + threadIdx.x] = B[(base + threadIdx.y) * n + left + c * BLOCK + threadIdx.x];
        __syncthreads();
        for (int k = 0; k < BLOCK; k++) {
            float a = tile_a[threadIdx.y][k];
#pragma unroll
            for (int c = 0; c < COLUMNS; c++) acc[c] += a * tile_b[k][c * BLOCK + threadIdx.x];
        }
        __syncthreads();
    }
    for (int c = 0; c < COLUMNS; c++) C[row * n + left + c * BLOCK + threadIdx.x] = acc[c];
}
