// One stage of a radix-2 Fourier transform.
#define TWO_PI 6.283185307179586f
__global__ void fft_stage(const float2 *in, float2 *out, int n, int half)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n / 2) return;
    int k = i & (half - 1);
    float angle = -TWO_PI * (float)k / (float)(2 * half);
    float2 u = in[i];
    float2 v = in[i + n / 2];
    float c = cosf(angle), s = sinf(angle);
    float2 t = make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
    int j = ((i - k) << 1) + k;
    out[j] = make_float2(u.x + t.x, u.y + t.y);
    out[j + half] = make_float2(u.x - t.x, u.y - t.y);
}
