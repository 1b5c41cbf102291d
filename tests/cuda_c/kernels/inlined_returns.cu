// Functions with early returns and loops, called within loops, conditions, arguments and indices.
__device__ int find(const int *list, int n, int wanted)
{
    for (int k = 0; k < n; k++) {
        if (list[k] == wanted) return k;
        if (list[k] > 1000) break;
    }
    return -1;
}

__device__ int classify(int v)
{
    switch (v % 4) {
        case 0: return 10;
        case 1:
            while (v > 10) {
                v -= 7;
                if (v % 5 == 0) return v;
            }
            return 20;
        case 2: break;
        default: v += 100;
    }
    return v;
}

__global__ void inlined_returns(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int total = 0;
    for (int k = 0; find(in, 16, k) < 12 && k < 30; k += classify(k) % 3 + 1) {
        if (find(in, 8, k + 1) >= 0) continue;
        total += classify(classify(k));
        if (total > 5000 && find(in + 8, 8, k) != -1) break;
    }
    int at = in[find(in, 16, in[i & 15])];
    switch (classify(i)) {
        case 10: total += 1; break;
        case 20: total += 2;
        default: total += classify(at) + (find(in, 16, 3) == find(in, 16, 3) ? 4 : 5);
    }
    out[i] = total;
}
