// Gaussian elimination in two kernels that the host launches for each column.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include "cuda_runtime.h"

#ifdef WORK_GROUP_0
#define MAX_THREADS WORK_GROUP_0
#elif defined(WORK_GROUP)
#define MAX_THREADS WORK_GROUP
#else
#define MAX_THREADS 128
#endif
#define SIDE 8

using namespace std;

int order;
float *matrix, *rhs, *solution;
FILE *input;

void readProblem(char *filename);
void eliminate();
__global__ void factors(float *multipliers, const float *matrix, int order, int column);
__global__ void subtract(float *matrix, float *rhs, const float *multipliers, int order, int column);

static void check(const char *where)
{
    cudaError_t error = cudaGetLastError();
    if (cudaSuccess != error)
    {
        fprintf(stderr, "%s: %s.\n", where, cudaGetErrorString(error));
        exit(EXIT_FAILURE);
    }
}

unsigned int microseconds = 0;

int main(int argc, char *argv[])
{
    if (argc < 2) {
        cout << "usage: " << argv[0] << " matrix.txt" << endl;
        exit(0);
    }
    readProblem(argv[1]);
    eliminate();
    printf("\n%f s\n", microseconds * 1e-6);
    free(matrix);
    free(rhs);
}

void readProblem(char *filename)
{
    input = fopen(filename, "r");
    if (!input || fscanf(input, "%d", &order) != 1) exit(1);
    matrix = (float *)malloc(order * order * sizeof(float));
    for (int i = 0; i < order * order; i++)
        if (fscanf(input, "%f", matrix + i) != 1) exit(1);
}

/* The multiplier of each row below the pivot. */
__global__ void factors(float *multipliers, const float *matrix, int order, int column)
{
    unsigned int row = threadIdx.x + blockIdx.x * blockDim.x + column + 1;
    if (row >= order) return;
    *(multipliers + row) = *(matrix + order * row + column) / *(matrix + (order + 1) * column);
}

/* Subtracts the multiple of the pivot's row from each row below. */
__global__ void subtract(float *matrix, float *rhs, const float *multipliers, int order, int column)
{
    int below = blockIdx.x * blockDim.x + threadIdx.x;
    int right = blockIdx.y * blockDim.y + threadIdx.y;
    if (below >= order - 1 - column) return;
    if (right >= order - column) return;

    int row = column + 1 + below;
    matrix[order * row + column + right] -= multipliers[row] * matrix[order * column + column + right];
    if (right == 0) {
        rhs[row] -= multipliers[row] * rhs[column];
    }
}

void eliminate()
{
    float *d_multipliers, *d_matrix, *d_rhs;
    cudaMalloc((void **)&d_multipliers, order * sizeof(float));
    cudaMalloc((void **)&d_matrix, order * order * sizeof(float));
    cudaMalloc((void **)&d_rhs, order * sizeof(float));
    dim3 line(MAX_THREADS), lines((order / MAX_THREADS) + (order % MAX_THREADS ? 1 : 0));
    dim3 block(SIDE, SIDE), grid((order + SIDE - 1) / SIDE, (order + SIDE - 1) / SIDE);
    for (int column = 0; column < order - 1; column++) {
        factors<<<lines, line>>>(d_multipliers, d_matrix, order, column);
        cudaDeviceSynchronize();
        subtract<<<grid, block>>>(d_matrix, d_rhs, d_multipliers, order, column);
        cudaDeviceSynchronize();
        check("subtract");
    }
    cudaFree(d_multipliers);
    cudaFree(d_matrix);
    cudaFree(d_rhs);
}
