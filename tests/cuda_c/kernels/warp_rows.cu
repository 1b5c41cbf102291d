// Each warp takes rows in turn: the number of its rounds differs from that of other warps.
__global__ void warp_rows(const int *offsets, const int *values, int *sums, int n_rows)
{
    int lane = threadIdx.x & 31;
    int n_warps = gridDim.x * blockDim.x >> 5;
    for (int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5; row < n_rows; row += n_warps) {
        int sum = 0;
        for (int k = offsets[row] + lane; k < offsets[row + 1]; k += 32) sum += values[k];
        for (int d = 16; d; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
        if (lane == 0) sums[row] = sum;
    }
}
