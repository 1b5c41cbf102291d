#include <type_traits>

namespace detail::inner {
template<typename T>
__device__ T lowest() {
    return T(0);
}

template<>
__device__ int lowest<int>() {
    return -2147483647 - 1;
}

template<>
__device__ float lowest<float>() {
    return -1.0e30f;
}
}

namespace di = detail::inner;

template<typename T, int N>
__device__ T scaled(T value) {
    return value * N;
}

template<>
__device__ int scaled<int, 3>(int value) {
    return value * 3 + 1;
}

template<typename T>
__device__ T shifted(T value) {
    if constexpr (std::is_same_v<T, int>) {
        return value << 2;
    } else if constexpr (std::is_same<T, unsigned>::value) {
        return value >> 1;
    } else {
        return value * 0.25f;
    }
}

[[maybe_unused]] __device__ int aligned() {
    return alignof(int4) + alignof(float);
}

__global__ void specialisations(const int *input, int *out, float *reals, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        int most = ::max(di::lowest<int>(), input[i]);
        out[3 * i] = most + scaled<int, 3>(i) + scaled<int, 2>(i);
        out[3 * i + 1] = shifted(input[i]) + shifted(unsigned(i)) + aligned();
        out[3 * i + 2] = std::numeric_limits<short>::max() + (int)detail::inner::lowest<unsigned>();
        reals[i] = fmaxf(di::lowest<float>(), shifted(float(i)));
    }
}
