// Inner declarations hide outer ones, parameters too.
__device__ int shadow(int x)
{
    { int x = 3; x++; }
    for (int x = 0; x < 2; x++) { int y = x; y++; }
    return x;
}

__global__ void shadowing(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = in[i];
    int total = x;
    {
        int x = 100;
        total += x;
        for (int x = 0; x < 3; ++x) {
            total += x;
            int i = 7;
            total += i;
        }
        if (int x2 = total % 2) total += x2;
    }
    out[i] = total + shadow(x);
}
