// char and short are promoted to int in expressions, and wrap when they are stored.
__global__ void integer_promotion(const unsigned *words, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned char a = words[i];
    unsigned char b = words[i] >> 8;
    signed char c = (signed char)(words[i] >> 16);
    short s = (short)words[i];
    unsigned short u = (unsigned short)(words[i] >> 16);
    out[8 * i] = a + b;
    unsigned char sum = a + b;
    out[8 * i + 1] = sum;
    out[8 * i + 2] = c * 3 - b;
    c *= 3;
    out[8 * i + 3] = c;
    s += 30000;
    out[8 * i + 4] = s;
    u -= 40000;
    out[8 * i + 5] = u;
    out[8 * i + 6] = ~a;
    a++;
    b--;
    out[8 * i + 7] = (a << 8) + b - (a < c);
}
