// A template over a type and a constant.
template <typename T>
__device__ T twice(T v)
{
    return v + v;
}

template <typename T, int STEP>
__global__ void template_type(const T *in, T *out, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * STEP;
#pragma unroll
    for (int k = 0; k < STEP; k++)
        if (i + k < n) out[i + k] = twice(in[i + k]) + T(k) + static_cast<T>(1);
}
