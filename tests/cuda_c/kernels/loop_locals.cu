// Variables declared in a loop are initialised anew in each iteration.
__global__ void loop_locals(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int sum = 0;
    for (int r = 0; r < 5; r++) {
        int seen = 0, bins[3] = {0};
        struct { int count; float weight; } entry = {0, 1.0f};
        for (int k = 0; k < 4; k++) {
            bins[(in[(i + k * r) % n] & 0xff) % 3]++;
            seen += k;
            entry.count += r;
            entry.weight *= 2.0f;
        }
        sum = sum * 3 + bins[0] + 2 * bins[1] + 4 * bins[2] + seen + entry.count + (int)entry.weight;
    }
    out[i] = sum;
}
