// Sums and counts of the points of each cluster, gathered in shared memory.
#define K 4
#define DIM 2
__global__ void kmeans_update(const float2 *points, const int *membership, float *sums, int *counts, int n)
{
    __shared__ float local_sums[K * DIM];
    __shared__ int local_counts[K];
    if (threadIdx.x < K * DIM) local_sums[threadIdx.x] = 0.f;
    if (threadIdx.x < K) local_counts[threadIdx.x] = 0;
    __syncthreads();
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        const int k = membership[i];
        atomicAdd(&local_sums[k * DIM], points[i].x);
        atomicAdd(&local_sums[k * DIM + 1], points[i].y);
        atomicAdd(&local_counts[k], 1);
    }
    __syncthreads();
    if (threadIdx.x < K * DIM) atomicAdd(&sums[threadIdx.x], local_sums[threadIdx.x]);
    if (threadIdx.x < K) atomicAdd(&counts[threadIdx.x], local_counts[threadIdx.x]);
}
