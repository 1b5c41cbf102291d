// Overloads of min, max and abs.
__global__ void min_max(const int *a, const unsigned *b, const float *c, float *reals, int *ints, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    ints[5 * i] = min(a[i], 10);
    ints[5 * i + 1] = max(a[i], -10);
    ints[5 * i + 2] = min(b[i], 100u);
    ints[5 * i + 3] = abs(a[i]);
    ints[5 * i + 4] = max(min(a[i], 50), -50);
    reals[3 * i] = fminf(c[i], 0.5f);
    reals[3 * i + 1] = max(c[i], 0.25f);
    reals[3 * i + 2] = fmaxf(fabs(c[i]), fabsf(-1.0f));
}
