// Qualifiers that change no result.
__global__ void __launch_bounds__(64) volatile_restrict(const float *__restrict__ in, float *__restrict__ out, const int n)
{
    volatile __shared__ float tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < n ? __ldg(&in[i]) : 0.0f;
    __syncthreads();
    const volatile float *t = tile;
    if (i < n) out[i] = t[threadIdx.x ^ 1] * 2.0f;
}
