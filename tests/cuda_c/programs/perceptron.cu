// A layer of a neural network: partial products of tiles of inputs, and the adjustment of weights.
#include <stdio.h>
#include <string.h>
#include <cuda.h>
#include <sys/time.h>

#define UNITS 16
#define ROWS 16
#define RATE 0.25f
#define INERTIA 0.5f

#ifdef _WIN32
#include <windows.h>
#endif

extern "C" int run_training(int argc, char **argv);

double seconds()
{
    struct timeval now;
    gettimeofday(&now, NULL);
    return now.tv_sec + now.tv_usec * 1e-6;
}

/* Each block multiplies ROWS inputs by their weights and adds up the columns. */
__global__ void forward_layer(const float *inputs, const float *weights, float *partial, int n_units)
{
    __shared__ float values[ROWS];
    __shared__ float products[ROWS][UNITS];

    int unit = threadIdx.x;
    int row = threadIdx.y;
    int input = ROWS * blockIdx.y + row;

    if (unit == 0)
        values[row] = inputs[input];
    __syncthreads();

    products[row][unit] = weights[input * n_units + unit] * values[row];
    __syncthreads();

    int step = 1;
    for (int level = 1; level <= log2f((float)ROWS) + 0.5f; level++) {
        int width = exp2f(level) + 0.5f;
        if (row % width == 0)
            products[row][unit] += products[row + step][unit];
        step = width;
        __syncthreads();
    }

    if (row == 0) partial[blockIdx.y * n_units + unit] = products[0][unit];
}

__global__ void adjust_layer(const float *errors, const float *inputs, float *weights, float *previous, int n_units)
{
    int unit = threadIdx.x;
    int input = ROWS * blockIdx.y + threadIdx.y;
    int at = input * n_units + unit;
    float change = (RATE * errors[unit] * inputs[input]) + (INERTIA * previous[at]);

    weights[at] += change;
    previous[at] = change;
}

void train(float *inputs, float *weights, float *partial, int n_inputs, int n_units)
{
    float *d_inputs, *d_weights, *d_partial;
    int n_blocks = n_inputs / ROWS;
    dim3 grid(1, n_blocks);
    dim3 threads(UNITS, ROWS);

    cudaMalloc((void **)&d_inputs, n_inputs * sizeof(float));
    cudaMalloc((void **)&d_weights, n_inputs * n_units * sizeof(float));
    cudaMalloc((void **)&d_partial, n_blocks * n_units * sizeof(float));
    cudaMemcpy(d_inputs, inputs, n_inputs * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpy(d_weights, weights, n_inputs * n_units * sizeof(float), cudaMemcpyHostToDevice);

    forward_layer<<<grid, threads>>>(d_inputs, d_weights, d_partial, n_units);
    cudaDeviceSynchronize();

    cudaError_t error = cudaGetLastError();
    if (error != cudaSuccess) {
        printf("forward_layer: %s\n", cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
    cudaMemcpy(partial, d_partial, n_blocks * n_units * sizeof(float), cudaMemcpyDeviceToHost);
    cudaFree(d_inputs);
    cudaFree(d_weights);
    cudaFree(d_partial);
}

int main(int argc, char **argv)
{
    double start = seconds();
    int result = run_training(argc, argv);
    printf("%.3f s\n", seconds() - start);
    return result;
}
