// Device functions: declared before they are defined, calling one another, without a result.
__device__ float polynomial(float x, float a, float b, float c);
static __device__ __forceinline__ float shifted(float x) { return polynomial(x + 1.0f, 1.0f, 2.0f, 3.0f); }
__device__ __noinline__ void store(float *out, int at, float value)
{
    if (at < 0) return;
    out[at] = value;
}
__host__ __device__ inline float polynomial(float x, float a, float b, float c)
{
    return (a * x + b) * x + c;
}

__global__ void device_functions(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    store(out, i < n ? i : -1, i < n ? shifted(in[i]) - polynomial(in[i], 0.5f, 0.0f, 1.0f) : 0.0f);
}
