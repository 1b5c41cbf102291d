// Device functions that take pointers to global, shared and local arrays.
__device__ int sum_of(const int *values, int count)
{
    int sum = 0;
    for (int k = 0; k < count; k++) sum += values[k];
    return sum;
}

__device__ void fill(int *values, int count, int start)
{
    for (int k = 0; k < count; k++) *values++ = start + k * k;
}

__global__ void pointer_arguments(const int *in, int *out, int n)
{
    __shared__ int tile[64];
    int local[6];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = in[i];
    __syncthreads();
    fill(local, 6, i);
    fill(local + 2, 2, -5);
    int total = sum_of(in + (i & ~3), 4) + 10 * sum_of(&tile[threadIdx.x & 48], 16) + 100 * sum_of(local, 6);
    if (i < n) out[i] = total;
}
