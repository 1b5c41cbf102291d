// Functions that fewer programs use.
__global__ void math_rare(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i];
    float *o = out + 8 * i;
    o[0] = exp10f(v);
    o[1] = sinpif(v);
    o[2] = cospif(v);
    o[3] = normcdff(v);
    o[4] = ldexpf(v, i % 5 - 2);
    o[5] = nearbyintf(v * 3.0f);
    o[6] = acoshf(fabsf(v) + 1.5f) + asinhf(v) + atanhf(v * 0.4f);
    o[7] = lroundf(v * 10.0f) + fabs(v) + abs(v);
}
