// An accumulation over tiles with a guard in the loop: threads beyond the end help to load.
__global__ void tiles_in_loop(const float *in, float *out, int n, int rows)
{
    __shared__ float tile[32];
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0.0f;
    for (int start = 0; start < n; start += 32) {
        tile[threadIdx.x] = start + threadIdx.x < n ? in[start + threadIdx.x] : 0.0f;
        __syncthreads();
        if (row < rows) {
            for (int k = 0; k < 32; k++) {
                if (start + k >= n) break;
                if (k % (row + 1) != 0) continue;
                sum += tile[k];
            }
        }
        __syncthreads();
    }
    if (row < rows) out[row] = sum;
}
