// Parameters that are references to arrays, in shared and in local memory.
template <int N, int STRIDE, typename T>
__device__ void fill(T (&to)[N * STRIDE], const T *from, int offset)
{
    for (int i = 0; i < N; i++) to[i * STRIDE] = from[offset + i];
}

__global__ void array_references(const float *in, float *out)
{
    __shared__ float shared[64];
    float local[4];
    if (threadIdx.x == 0) {
        fill<32, 2>(shared, in, 0);
    }
    __syncthreads();
    fill<4, 1, float>(local, in, 2);
    out[threadIdx.x] = shared[2 * threadIdx.x] + local[threadIdx.x % 4];
}
