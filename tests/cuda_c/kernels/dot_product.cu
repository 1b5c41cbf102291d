// Dot product: a strided loop, a tree in shared memory, an atomic for each block.
#define THREADS 128
__global__ void dot_product(const float *a, const float *b, float *result, int n)
{
    __shared__ float partial[THREADS];
    const unsigned t = threadIdx.x;
    partial[t] = 0.0f;
    for (int i = blockIdx.x * THREADS + t; i < n; i += THREADS * gridDim.x) partial[t] += a[i] * b[i];
    for (unsigned live = THREADS / 2; live >= 1; live /= 2) {
        __syncthreads();
        if (t < live) partial[t] += partial[t + live];
    }
    if (!t) atomicAdd(result, *partial);
}
