// Division and remainder of signed integers truncate towards zero.
__global__ void signed_division(const int *a, const int *b, int *quotients, int *remainders, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        quotients[i] = a[i] / b[i];
        remainders[i] = a[i] % b[i];
    }
}
