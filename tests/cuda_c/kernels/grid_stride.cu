// A loop that strides by the whole grid.
__global__ void grid_stride(const int *in, int *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        out[i] = in[i] * 2 + (i >= (int)(blockDim.x * gridDim.x));
}
