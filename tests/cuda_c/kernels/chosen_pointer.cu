// A pointer chosen at run time among parts of one buffer, and by a uniform condition between two.
__global__ void chosen_pointer(const int *a, const int *b, int *out, int use_b, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int *half = (i & 1) ? a + n / 2 : a;
    int v = half[i / 2];
    out[i] = v + 1000 * (use_b ? b[i] : a[i]);
}
