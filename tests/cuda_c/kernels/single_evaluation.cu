// The left side of a compound assignment is evaluated once; assignments are expressions.
__device__ int next(int *counter)
{
    return (*counter)++;
}

__global__ void single_evaluation(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int a[6] = {0, 0, 0, 0, 0, 0};
    int k = 0, calls = 0;
    a[k++] += in[i];
    a[k++] -= 4;
    a[next(&calls) + 2] |= 5;
    a[next(&calls) + 2]++;
    int x, y, z;
    x = y = z = in[i] & 7;
    x += y -= 2;
    int *p = a + 4;
    *p++ = x;
    *p = y + z;
    (*p)--;
    *--p *= 3;
    p[-1] += p[1];
    out[i] = a[0] + 3 * a[1] + 5 * a[2] + 7 * a[3] + 11 * a[4] + 13 * a[5] + 1000 * calls + 100000 * k;
}
