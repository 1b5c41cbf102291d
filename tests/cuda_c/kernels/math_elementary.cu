// Elementary functions of positive numbers.
__global__ void math_elementary(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float *o = out + 12 * i;
    o[0] = sqrtf(v);
    o[1] = rsqrtf(v);
    o[2] = expf(-v);
    o[3] = exp2f(v);
    o[4] = logf(v);
    o[5] = log2f(v);
    o[6] = log10f(v);
    o[7] = powf(v, 1.75f);
    o[8] = fmaf(v, v, 1.0f);
    o[9] = 1.0f / v;
    o[10] = sqrt(v) + exp(-v) + log(v + 1.0f);
    o[11] = pow(v, 0.5f);
}
