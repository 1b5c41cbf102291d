// Compound assignments to bytes in a buffer.
__global__ void byte_update(char *text, unsigned char *counts, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    if (text[i] >= 'a' && text[i] <= 'z') text[i] -= 'a' - 'A';
    counts[i] += 200;
    counts[i]++;
    counts[i] >>= 1;
}
