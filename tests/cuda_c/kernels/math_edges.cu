// Functions at the edges of their domains.
__global__ void math_edges(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    float *o = out + 10 * i;
    o[0] = powf(v, 2.0f);
    o[1] = powf(v, 3.0f);
    o[2] = powf(0.0f, 0.0f) + pow(v, 0);
    o[3] = tanhf(v * 1000.0f);
    o[4] = erff(v * 100.0f);
    o[5] = roundf(v - 0.5f);
    o[6] = atan2f(v, 0.0f) + atan2f(0.0f, -fabsf(v));
    o[7] = expf(-fabsf(v) * 200.0f);
    o[8] = fmodf(v * 1000.0f, 7.0f);
    o[9] = cbrtf(v * 1000.0f);
}
