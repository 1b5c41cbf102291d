// Index of the greatest element of each row; the first one if there are several.
__global__ void argmax(const float *rows, int *best, int width)
{
    __shared__ float s_value[64];
    __shared__ int s_index[64];
    const float *row = rows + blockIdx.x * width;
    float value = -3.402823466e+38F;
    int index = 0x7fffffff;
    for (int c = threadIdx.x; c < width; c += blockDim.x)
        if (row[c] > value) { value = row[c]; index = c; }
    s_value[threadIdx.x] = value;
    s_index[threadIdx.x] = index;
    __syncthreads();
    for (int s = blockDim.x / 2; s > 0; s >>= 1) {
        if (threadIdx.x < s) {
            float other = s_value[threadIdx.x + s];
            int at = s_index[threadIdx.x + s];
            if (other > s_value[threadIdx.x] || (other == s_value[threadIdx.x] && at < s_index[threadIdx.x])) {
                s_value[threadIdx.x] = other;
                s_index[threadIdx.x] = at;
            }
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) best[blockIdx.x] = s_index[0];
}
