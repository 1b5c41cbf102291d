// Returns from nested statements, also from within loops.
__device__ int first_divisor(int v)
{
    if (v < 2) return 0;
    for (int d = 2; d * d <= v; d++) {
        if (v % d == 0) return d;
    }
    return v;
}

__device__ int place(const int *list, int count, int wanted)
{
    for (int r = 0; r < 4; r++) {
        int c = 0;
        while (c < count / 4) {
            if (list[r * (count / 4) + c] == wanted) return r * 100 + c;
            c++;
        }
    }
    return -1;
}

__global__ void early_return(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    out[2 * i] = first_divisor(in[i]);
    out[2 * i + 1] = place(in, 64, i);
    if (in[i] % 7 == 0) { out[2 * i] = -1; return; }
    if (i % 5 != 0) return;
    out[2 * i + 1] += 10000;
}
