// The comma operator in expressions and loops.
__global__ void comma_operator(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a, b, c = 0;
    a = (b = in[i], b + 2);
    for (int lo = 0, hi = a; lo < hi; lo++, hi--)
        c += hi - lo, c ^= lo;
    out[i] = (a++, b--, a * b + c);
}
