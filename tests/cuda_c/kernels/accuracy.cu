__global__ void accuracy(const float *input, float *erfs, float *erfcs, float *normals, float *roots, float *tangents,
                         float *logarithms, float *powers) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = input[i];
    erfs[i] = erff(x);
    erfcs[i] = erfcf(x);
    normals[i] = normcdff(x);
    roots[i] = cbrtf(x);
    tangents[i] = tanhf(x);
    logarithms[i] = log1pf(fabsf(x));
    powers[i] = expm1f(x);
}
