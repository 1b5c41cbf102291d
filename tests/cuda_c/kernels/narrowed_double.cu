// double is narrowed to float if the caller allows it.
__global__ void narrowed_double(const double *x, double *y, double a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        double t = x[i] * a;
        y[i] = sqrt(t) + 0.5 * exp(-t) + fabs(-1.0);
    }
}
