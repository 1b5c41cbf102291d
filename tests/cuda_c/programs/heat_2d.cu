// Heat equation on a plate with a reduction of the change, driven by a loop with lambdas on the host.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <numeric>
#include <string>
#include <vector>
#include <cuda_runtime.h>

#define CUDA_CHECK(call)                                                                  \
    do {                                                                                  \
        cudaError_t status_ = (call);                                                     \
        if (status_ != cudaSuccess) {                                                     \
            fprintf(stderr, "CUDA error at %s:%d: %s\n", __FILE__, __LINE__,              \
                    cudaGetErrorString(status_));                                         \
            exit(1);                                                                      \
        }                                                                                 \
    } while (0)

constexpr int TX = 16, TY = 8;

struct Grid {
    int width, height;
    __host__ __device__ int size() const { return width * height; }
};

template <typename T>
__device__ inline T laplacian(const T *u, int at, int pitch)
{
    return u[at - 1] + u[at + 1] + u[at - pitch] + u[at + pitch] - T(4) * u[at];
}

__global__ void init_plate(float *u, int width, int height)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < width && y < height) u[y * width + x] = (x == 0 || y == 0) ? 100.0f : (x == width - 1) ? 50.0f : 0.0f;
}

template <typename T>
__global__ void heat_step(const T *u, T *u_next, T *block_change, int width, int height, T alpha)
{
    __shared__ T changes[TX * TY];
    const int x = blockIdx.x * TX + threadIdx.x;
    const int y = blockIdx.y * TY + threadIdx.y;
    const int tid = threadIdx.y * TX + threadIdx.x;
    T change = T(0);
    if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
        const int at = y * width + x;
        const T delta = alpha * laplacian<T>(u, at, width);
        u_next[at] = u[at] + delta;
        change = fabs(delta);
    }
    changes[tid] = change;
    __syncthreads();
    for (int s = TX * TY / 2; s > 0; s >>= 1) {
        if (tid < s) changes[tid] = max(changes[tid], changes[tid + s]);
        __syncthreads();
    }
    if (tid == 0) block_change[blockIdx.y * gridDim.x + blockIdx.x] = changes[0];
}

int main(int argc, char **argv)
{
    Grid grid{200, 100};
    const float tolerance = argc > 1 ? std::stof(argv[1]) : 1e-3f;
    float *u, *v, *d_changes;
    dim3 block(TX, TY), blocks((grid.width + TX - 1) / TX, (grid.height + TY - 1) / TY);
    std::vector<float> changes(blocks.x * blocks.y);
    CUDA_CHECK(cudaMalloc(&u, grid.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&v, grid.size() * sizeof(float)));
    CUDA_CHECK(cudaMalloc(&d_changes, changes.size() * sizeof(float)));
    init_plate<<<blocks, block>>>(u, grid.width, grid.height);
    CUDA_CHECK(cudaMemcpy(v, u, grid.size() * sizeof(float), cudaMemcpyDeviceToDevice));

    auto step = [&](float *from, float *to) -> float {
        heat_step<float><<<blocks, block>>>(from, to, d_changes, grid.width, grid.height, 0.2f);
        CUDA_CHECK(cudaGetLastError());
        CUDA_CHECK(cudaMemcpy(changes.data(), d_changes, changes.size() * sizeof(float), cudaMemcpyDeviceToHost));
        return *std::max_element(changes.begin(), changes.end());
    };
    int n = 0;
    for (float change = 1e9f; change > tolerance && n < 1000; ++n) {
        change = step(u, v);
        std::swap(u, v);
        if (n % 100 == 0) printf("%d: change %g; \"%s\"\n", n, change, change > 1 ? "large" : "small");
    }
    CUDA_CHECK(cudaFree(u));
    CUDA_CHECK(cudaFree(v));
    CUDA_CHECK(cudaFree(d_changes));
    return 0;
}
