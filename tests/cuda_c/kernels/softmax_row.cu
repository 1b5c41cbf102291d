// Softmax of each row: the maximum and the sum by trees in shared memory.
__global__ void softmax_row(const float *in, float *out, int width)
{
    __shared__ float scratch[64];
    const float *x = in + blockIdx.x * width;
    float *y = out + blockIdx.x * width;
    int t = threadIdx.x;
    float largest = -INFINITY;
    for (int i = t; i < width; i += blockDim.x) largest = fmaxf(largest, x[i]);
    scratch[t] = largest;
    __syncthreads();
    for (int s = blockDim.x >> 1; s; s >>= 1) {
        if (t < s) scratch[t] = fmaxf(scratch[t], scratch[t + s]);
        __syncthreads();
    }
    largest = scratch[0];
    __syncthreads();
    float sum = 0.0f;
    for (int i = t; i < width; i += blockDim.x) {
        float e = expf(x[i] - largest);
        y[i] = e;
        sum += e;
    }
    scratch[t] = sum;
    __syncthreads();
    for (int s = blockDim.x >> 1; s; s >>= 1) {
        if (t < s) scratch[t] += scratch[t + s];
        __syncthreads();
    }
    float scale = 1.0f / scratch[0];
    for (int i = t; i < width; i += blockDim.x) y[i] *= scale;
}
