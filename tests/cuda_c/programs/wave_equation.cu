// Waves on a membrane of varying stiffness: constants without suffix are double.
#include <cstdlib>
#include <cstdio>
#include <fstream>
#include <cuda_runtime_api.h>

#define real float
#define THREADS 64

#define gpuCheck(call) { gpuCheckAt((call), __FILE__, __LINE__); }
inline void gpuCheckAt(cudaError_t code, const char *file, int line, bool abort = true)
{
	if (code != cudaSuccess)
	{
		fprintf(stderr, "%s:%d: %s\n", file, line, cudaGetErrorString(code));
		if (abort) exit(code);
	}
}

__global__ void wave(int rows, int cols, int cells, const int *above, const int *below,
                     const real *stiffness, const real *now, real *before, real *energy) {

	// position
	int bx = blockIdx.x;
	int tx = threadIdx.x;
	int cell = bx * THREADS + tx;
	int row;
	int col;

	// values
	real center;
	real d_up, d_down, d_left, d_right;
	real pull, damping, next;

	row = cell / cols;
	col = cell % cols;
	if (cell < cells) {
		center = now[cell];
		d_up = now[above[row] * cols + col] - center;
		d_down = now[below[row] * cols + col] - center;
		d_left = (col > 0 ? now[cell - 1] : center) - center;
		d_right = (col < cols - 1 ? now[cell + 1] : center) - center;

		pull = 0.25 * stiffness[cell] * (d_up + d_down + d_left + d_right);
		damping = 1.0 / (1.0 + 0.001 * fabs(center));
		next = (2.0 * center - before[cell] + pull) * damping;

		// clip the amplitude
		if (next < -100) {
			next = -100;
		}
		else if (next > 100) {
			next = 100;
		}
		energy[cell] = 0.5 * (next - before[cell]) * (next - before[cell]);
		before[cell] = next;
	}
}

int main(int argc, char *argv[])
{
	int rows = 32, cols = 40, cells = rows * cols;
	real *now, *before, *stiffness, *energy;
	int *above, *below;
	gpuCheck(cudaMalloc((void **)&now, sizeof(real) * cells));
	gpuCheck(cudaMalloc((void **)&before, sizeof(real) * cells));
	gpuCheck(cudaMalloc((void **)&stiffness, sizeof(real) * cells));
	gpuCheck(cudaMalloc((void **)&energy, sizeof(real) * cells));
	gpuCheck(cudaMallocManaged(&above, sizeof(int) * rows));
	gpuCheck(cudaMallocManaged(&below, sizeof(int) * rows));
	dim3 threads, blocks;
	threads.x = THREADS;
	threads.y = 1;
	blocks.x = cells / (int)threads.x + (cells % (int)threads.x == 0 ? 0 : 1);
	blocks.y = 1;
	cudaStream_t stream;
	cudaStreamCreate(&stream);
	for (int step = 0; step < 10; step++) {
		wave<<<blocks, threads, 0, stream>>>(rows, cols, cells, above, below, stiffness, now, before, energy);
		real *swap = now; now = before; before = swap;
	}
	gpuCheck(cudaPeekAtLastError());
	gpuCheck(cudaStreamSynchronize(stream));
	std::ofstream file("wave.txt");
	file << "done" << std::endl;
	cudaFree(now);
	cudaFree(before);
	return 0;
}
