// continue in a do loop goes to its condition.
__global__ void do_while_continue(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int k = in[i], sum = 0;
    do {
        if (k % 3 == 0) continue;
        sum += k;
    } while (--k > 0);
    out[i] = sum;
}
