// Trigonometric and hyperbolic functions.
__global__ void math_trigonometric(const float *x, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = x[i];
    float *o = out + 12 * i;
    o[0] = sinf(v);
    o[1] = cosf(v);
    o[2] = tanf(v * 0.4f);
    o[3] = asinf(v * 0.3f);
    o[4] = acosf(v * 0.3f);
    o[5] = atanf(v);
    o[6] = atan2f(v, 0.75f);
    o[7] = atan2f(v, -0.75f);
    o[8] = sinhf(v);
    o[9] = coshf(v);
    o[10] = tanhf(v);
    float s, c;
    sincosf(v, &s, &c);
    o[11] = s * s + c * c;
}
