// break and continue in nested loops.
__global__ void nested_loops(const int *limits, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int count = 0;
    for (int a = 1; a < limits[i]; a++) {
        if (a % 5 == 4) continue;
        int b = 0;
        while (b < 20) {
            b++;
            if ((a + b) % 3 == 0) continue;
            if (a * b > 60) break;
            for (int c = b; ; c -= 2) {
                if (c < 0) break;
                if (c == 3) continue;
                count += c;
            }
        }
        count ^= b;
    }
    out[i] = count;
}
