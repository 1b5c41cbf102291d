// An unsigned operand turns the other one into an unsigned number.
__global__ void mixed_sign(const int *a, const unsigned *b, int *out, int n)
{
    int i = threadIdx.x + blockDim.x * blockIdx.x;
    if (i >= n) return;
    out[6 * i] = a[i] < b[i];
    out[6 * i + 1] = a[i] / (b[i] | 1);
    out[6 * i + 2] = (a[i] + b[i]) >> 1;
    out[6 * i + 3] = a[i] < (int)b[i];
    out[6 * i + 4] = a[i] * -1 > 5u;
    out[6 * i + 5] = (a[i] > 0 ? a[i] : b[i]) / 2;
}
