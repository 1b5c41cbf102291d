// Addresses of elements, locals and members, passed to functions.
struct Pair { int first, second; };

__device__ void swap_values(int *a, int *b)
{
    int t = *a;
    *a = *b;
    *b = t;
}

__device__ void accumulate(int *sum, const int *value) { *sum += *value; }

__global__ void address_of(int *data, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    swap_values(&data[i], &data[n - 1 - i]);
    int total = 5;
    accumulate(&total, data + i);
    Pair pair = {total, i};
    swap_values(&pair.first, &pair.second);
    int *where = &total;
    *where += 1;
    out[i] = pair.first * 1000 + pair.second * 2 + total;
}
