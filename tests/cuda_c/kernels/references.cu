// Parameters by reference, and references as local names.
template <typename T>
__device__ void exchange(T &a, T &b)
{
    T t = a;
    a = b;
    b = t;
}

__device__ void divide(int value, int by, int &quotient, int &remainder)
{
    quotient = value / by;
    remainder = value % by;
}

__global__ void references(int *data, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    int &low = data[2 * i];
    int &high = data[2 * i + 1];
    if (low > high) exchange(low, high);
    int q, r;
    divide(high, 9, q, r);
    exchange(q, r);
    low += 1;
    const int &seen = low;
    out[i] = q * 1000 + r + seen;
}
