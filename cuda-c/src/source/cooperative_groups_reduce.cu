template<typename T>
struct plus {
    __device__ T operator()(T a, T b) const { return a + b; }
};

template<typename T>
struct greater {
    __device__ T operator()(T a, T b) const { return a > b ? a : b; }
};

template<typename T>
struct less {
    __device__ T operator()(T a, T b) const { return a < b ? a : b; }
};

template<typename T>
struct bit_and {
    __device__ T operator()(T a, T b) const { return a & b; }
};

template<typename T>
struct bit_or {
    __device__ T operator()(T a, T b) const { return a | b; }
};

template<typename T>
struct bit_xor {
    __device__ T operator()(T a, T b) const { return a ^ b; }
};

template<typename G, typename T, typename F>
__device__ T reduce(const G &group, T value, F function) {
    T total = value;
    for (unsigned step = group.size() / 2u; step > 0u; step /= 2u) {
        total = function(total, group.shfl_xor(total, step));
    }
    return total;
}
