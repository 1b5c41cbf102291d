// Buffers of bytes: elements of a word belong to different threads.
__global__ void byte_buffer(const unsigned char *in, unsigned char *inverted, signed char *differences, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    inverted[i] = 255 - in[i];
    differences[i] = in[i] - in[(i + 1) % n];
}
