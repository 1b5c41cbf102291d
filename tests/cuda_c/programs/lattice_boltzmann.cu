// Lattice Boltzmann in nine directions: collision, and streaming into the neighbours.
#include <iostream>
#include <iomanip>
#include <memory>
#include <cuda_runtime.h>
#include <device_launch_parameters.h>

#define Q 9

namespace {

constexpr int NX = 32;
constexpr int NY = 24;

__constant__ int ex[Q] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
__constant__ int ey[Q] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
__constant__ float w[Q] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};

__device__ __forceinline__ size_t place(unsigned int x, unsigned int y, unsigned int d)
{
    return (size_t)(NX * (NY * d + y) + x);
}

} // namespace

__global__ void collide_and_stream(const float *f, float *f_next, float *density, const float omega)
{
    const unsigned int x = blockIdx.x * blockDim.x + threadIdx.x;
    const unsigned int y = blockIdx.y;
    if (x >= NX) return;

    float local[Q];
    float rho = 0.0f, ux = 0.0f, uy = 0.0f;
#pragma unroll
    for (int d = 0; d < Q; ++d) {
        local[d] = f[place(x, y, d)];
        rho += local[d];
        ux += ex[d] * local[d];
        uy += ey[d] * local[d];
    }
    ux /= rho;
    uy /= rho;
    const float square = 1.0f - 1.5f * (ux * ux + uy * uy);
    for (int d = 0; d < Q; ++d) {
        const float eu = 3.0f * (ex[d] * ux + ey[d] * uy);
        const float equilibrium = w[d] * rho * (square + eu * (1.0f + 0.5f * eu));
        const unsigned int xt = (x + NX + ex[d]) % NX;
        const unsigned int yt = (y + NY + ey[d]) % NY;
        f_next[place(xt, yt, d)] = (1.0f - omega) * local[d] + omega * equilibrium;
    }
    density[y * NX + x] = rho;
}

class Simulation {
public:
    explicit Simulation(int steps) : steps_(steps) {
        cudaMalloc(&f_, sizeof(float) * NX * NY * Q);
        cudaMalloc(&g_, sizeof(float) * NX * NY * Q);
        cudaMalloc(&rho_, sizeof(float) * NX * NY);
    }
    ~Simulation() {
        cudaFree(f_);
        cudaFree(g_);
        cudaFree(rho_);
    }
    void run() {
        for (int s = 0; s < steps_; ++s) {
            collide_and_stream<<<dim3(NX / 32, NY, 1), dim3(32, 1, 1)>>>(f_, g_, rho_, 1.2f);
            std::swap(f_, g_);
        }
    }
private:
    int steps_;
    float *f_ = nullptr, *g_ = nullptr, *rho_ = nullptr;
};

int main()
{
    auto simulation = std::make_unique<Simulation>(100);
    simulation->run();
    std::cout << std::setprecision(3) << "finished {" << R"(steps")" << "}\n";
    return EXIT_SUCCESS;
}
