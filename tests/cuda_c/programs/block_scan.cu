// Scan of a large array: warps by shuffles, their sums in dynamic shared memory, then the sums of blocks.
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <stdio.h>
#include "helper_cuda.h"
#include "helper_functions.h"

#define ALL_LANES 0xffffffff

__global__ void scan_blocks(int *data, int *block_sums)
{
    extern __shared__ int warp_sums[];
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % warpSize;
    const int warp = threadIdx.x / warpSize;
    const int n_warps = blockDim.x / warpSize;

    // scan each warp
    int sum = data[id];
#pragma unroll
    for (int distance = 1; distance < 32; distance *= 2) {
        int lower = __shfl_up_sync(ALL_LANES, sum, distance);
        if (lane >= distance) sum += lower;
    }
    if (lane == warpSize - 1) {
        warp_sums[warp] = sum;
    }

    __syncthreads();

    // the first warp scans the sums
    if (warp == 0) {
        int warp_sum = lane < n_warps ? warp_sums[lane] : 0;
        for (int distance = 1; distance < n_warps; distance *= 2) {
            int lower = __shfl_up_sync(ALL_LANES, warp_sum, distance);
            if (lane >= distance) warp_sum += lower;
        }
        if (lane < n_warps) warp_sums[lane] = warp_sum;
    }

    __syncthreads();

    if (warp > 0) {
        sum += warp_sums[warp - 1];
    }
    data[id] = sum;
    if (block_sums != NULL && threadIdx.x == blockDim.x - 1) {
        block_sums[blockIdx.x] = sum;
    }
}

// Adds the sum of everything before a block to its elements.
__global__ void add_sums(int *data, const int *block_sums, int n)
{
    __shared__ int before;
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (id >= n) return;
    if (threadIdx.x == 0) {
        before = 0;
        for (int b = 0; b < blockIdx.x; ++b) before += block_sums[b];
    }
    __syncthreads();
    data[id] += before;
}

static unsigned int divideUp(unsigned int dividend, unsigned int divisor)
{
    return dividend / divisor + (dividend % divisor != 0);
}

int main(int argc, char *argv[])
{
    printf("Starting %s\n", argv[0]);
    int device = findCudaDevice(argc, (const char **)argv);
    cudaDeviceProp properties;
    checkCudaErrors(cudaGetDeviceProperties(&properties, device));
    const int n = 65536;
    int *d_data, *d_sums;
    checkCudaErrors(cudaMalloc((void **)&d_data, sizeof(int) * n));
    int block = 256, grid = divideUp(n, block), n_warps = block / 32;
    checkCudaErrors(cudaMalloc((void **)&d_sums, grid * sizeof(int)));
    cudaEvent_t start, stop;
    checkCudaErrors(cudaEventCreate(&start));
    checkCudaErrors(cudaEventCreate(&stop));
    checkCudaErrors(cudaEventRecord(start, 0));
    scan_blocks<<<grid, block, n_warps * sizeof(int)>>>(d_data, d_sums);
    add_sums<<<grid, block>>>(d_data, d_sums, n);
    checkCudaErrors(cudaEventRecord(stop, 0));
    checkCudaErrors(cudaEventSynchronize(stop));
    float ms = 0;
    checkCudaErrors(cudaEventElapsedTime(&ms, start, stop));
    printf("%f ms for %u blocks\n", ms, grid);
    exit(EXIT_SUCCESS);
}
