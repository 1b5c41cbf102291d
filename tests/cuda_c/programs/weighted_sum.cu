/*
 * Weighted sum of two vectors.
 *
 * Allocates arrays on host and device, copies them, launches a kernel and verifies the result.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

// Runtime API
#include <cuda_runtime.h>

/**
 * One element for each thread: out = alpha * left + beta * right.
 */
__global__ void weightedSum(const float *left, const float *right, float *out, float alpha, float beta, int count)
{
    int element = blockDim.x * blockIdx.x + threadIdx.x;

    if (element < count)
    {
        out[element] = alpha * left[element] + beta * right[element];
    }
}

static float *hostArray(int count)
{
    float *array = (float *)malloc(count * sizeof(float));
    if (array == NULL)
    {
        fprintf(stderr, "no memory for %d floats!\n", count);
        exit(EXIT_FAILURE);
    }
    for (int i = 0; i < count; ++i)
        array[i] = rand() / (float)RAND_MAX;
    return array;
}

int main(void)
{
    int count = 70000;
    size_t bytes = count * sizeof(float);
    float *left = hostArray(count), *right = hostArray(count), *out = hostArray(count);
    float *devLeft = NULL, *devRight = NULL, *devOut = NULL;
    cudaError_t status = cudaMalloc((void **)&devLeft, bytes);
    if (status != cudaSuccess)
    {
        fprintf(stderr, "cudaMalloc: %s\n", cudaGetErrorString(status));
        return EXIT_FAILURE;
    }
    cudaMalloc((void **)&devRight, bytes);
    cudaMalloc((void **)&devOut, bytes);
    cudaMemcpy(devLeft, left, bytes, cudaMemcpyHostToDevice);
    cudaMemcpy(devRight, right, bytes, cudaMemcpyHostToDevice);

    int block = 256;
    int grid = (count + block - 1) / block;
    printf("%d blocks of %d threads\n", grid, block);
    weightedSum<<<grid, block>>>(devLeft, devRight, devOut, 2.0f, -0.5f, count);
    if ((status = cudaGetLastError()) != cudaSuccess)
    {
        fprintf(stderr, "launch: %s\n", cudaGetErrorString(status));
        return EXIT_FAILURE;
    }
    cudaMemcpy(out, devOut, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < count; ++i)
    {
        if (fabs(2.0f * left[i] - 0.5f * right[i] - out[i]) > 1e-5)
        {
            fprintf(stderr, "element %d differs!\n", i);
            return EXIT_FAILURE;
        }
    }
    puts("Test PASSED");
    cudaFree(devLeft);
    cudaFree(devRight);
    cudaFree(devOut);
    free(left);
    free(right);
    free(out);
    return 0;
}
