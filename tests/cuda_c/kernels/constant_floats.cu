// Constant expressions of floats with infinite results, and float tests on them.
__global__ void constant_floats(float *out, int *tests)
{
    if (threadIdx.x != 0) return;
    float zero = 0.0f;
    out[0] = 1.0f / 0.0f;
    out[1] = -1.0f / zero;
    out[2] = 1.0f / 3.0f;
    out[3] = (float)1e10;
    out[4] = 16777217;
    out[5] = 7 / 2 + 7 / 2.0f;
    out[6] = 1e-3f * 1000;
    tests[0] = out[0] > 3.4e38f;
    tests[1] = (int)3.99f + (int)-3.99f * 10;
    tests[2] = 0.1f + 0.2f == 0.3f;
    tests[3] = 1.0f / 0.0f == 1.0f / zero;
}
