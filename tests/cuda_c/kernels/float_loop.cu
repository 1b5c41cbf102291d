// Loops over floats, and a convergence test: square roots by Newton's method.
__global__ void float_loop(const float *in, float *out, int *steps, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float guess = in[i] > 1.0f ? in[i] : 1.0f;
    int count = 0;
    for (float previous = 0.0f; fabsf(guess - previous) > 1e-3f * guess; count++) {
        previous = guess;
        guess = 0.5f * (guess + in[i] / guess);
    }
    out[i] = guess;
    steps[i] = count > 0;
}
