// Barriers that count and combine predicates.
__global__ void barrier_votes(const int *in, int *out)
{
    int v = in[blockIdx.x * blockDim.x + threadIdx.x];
    int positive = __syncthreads_count(v > 0);
    int any_large = __syncthreads_or(v > 90);
    int all_small = __syncthreads_and(v < 95);
    out[blockIdx.x * blockDim.x + threadIdx.x] = positive * 4 + (any_large != 0) * 2 + (all_small != 0);
}
