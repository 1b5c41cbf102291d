// Functions of one name for several types, and default arguments.
__device__ int scale(int v) { return v * 2; }
__device__ float scale(float v) { return v * 0.5f; }
__device__ unsigned scale(unsigned v, unsigned by) { return v * by; }
__device__ int blend(int a, int b = 10, int shift = 1) { return (a << shift) + b; }

__global__ void overloads(const int *in, int *out, float *reals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[3 * i] = scale(in[i]) + (int)scale(7u, 3u);
    out[3 * i + 1] = blend(in[i]) - blend(in[i], 3);
    out[3 * i + 2] = blend(in[i], 1, 3);
    reals[i] = scale((float)in[i]);
}
