// Atomics on components of vectors in buffers and shared memory, through pointers and functions.
__device__ int take(int *counter, int by) { return atomicAdd(counter, by); }

__global__ void atomic_vector(const int *in, int2 *sums, float4 *floats, int *order, int n)
{
    __shared__ int2 local;
    __shared__ int cells[4][4];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    if (t == 0) local = make_int2(0, 0);
    if (t < 16) cells[t / 4][t % 4] = 0;
    __syncthreads();
    if (i < n) {
        take(&local.x, in[i]);
        take(&local.y, 1);
        atomicAdd(&cells[in[i] & 3][t & 3], 2);
        int *y = &sums[1].y;
        atomicMax(y, in[i]);
        atomicAdd(&floats[i & 1].z, 0.5f);
    }
    __syncthreads();
    if (t == 0) {
        atomicAdd(&sums[0].x, local.x);
        atomicAdd(&sums[0].y, local.y);
    }
    if (t < 16) atomicAdd(order + t, cells[t / 4][t % 4]);
}
