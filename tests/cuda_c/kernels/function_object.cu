// A kernel over a type, an operation without members, which is a parameter, and a size.
struct Minimum {
    __device__ float operator()(float a, float b) const { return a < b ? a : b; }
};

template <typename T, typename Operation, int WIDTH>
__global__ void function_object(const T *in, T *out, Operation operation)
{
    __shared__ T tile[WIDTH];
    int t = threadIdx.x;
    tile[t] = in[blockIdx.x * WIDTH + t];
    __syncthreads();
    for (int half = WIDTH / 2; half > 0; half /= 2) {
        if (t < half) tile[t] = operation(tile[t], tile[t + half]);
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = tile[0];
}
