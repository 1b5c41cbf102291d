// Pre- and post-increments as values and within indices.
__global__ void increments(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int list[8];
    int top = 0;
    list[top++] = in[i];
    list[top] = top + 1;
    top += 1;
    list[top++] = ++list[0];
    list[top] = list[top - 1]--;
    int a = top++;
    int b = --top;
    float f = 1.5f;
    f++;
    unsigned char wrap = 255;
    int before = wrap++;
    out[i] = list[0] + list[1] * 100 + list[2] * 3 + list[3] * 7 + a * 1000 + b * 10000 + (int)(f * 2) + before + wrap;
}
