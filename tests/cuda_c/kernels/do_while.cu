// Length of a Collatz sequence.
__global__ void do_while(const unsigned *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned v = in[i];
    int steps = 0;
    do {
        v = v % 2 ? 3 * v + 1 : v / 2;
        if (++steps > 500) break;
    } while (v != 1);
    out[i] = steps;
}
