// Layer norm of each row by one warp.
__device__ float warp_sum(float v)
{
    for (int m = 16; m; m >>= 1) v += __shfl_xor_sync(0xFFFFFFFF, v, m);
    return v;
}

__global__ void layernorm_row(const float *x, const float *gamma, const float *beta, float *y, int rows, int width, float epsilon)
{
    int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
    int lane = threadIdx.x % 32;
    float sum = 0.0f, squares = 0.0f;
    if (row < rows)
        for (int i = lane; i < width; i += 32) {
            float v = x[row * width + i];
            sum += v;
            squares += v * v;
        }
    float mean = warp_sum(sum) / width;
    float variance = warp_sum(squares) / width - mean * mean;
    float inv = rsqrtf(variance + epsilon);
    if (row < rows)
        for (int i = lane; i < width; i += 32)
            y[row * width + i] = (x[row * width + i] - mean) * inv * gamma[i] + beta[i];
}
