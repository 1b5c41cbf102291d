// Convolution with a filter in constant memory.
#define FILTER 5
__constant__ float weights[FILTER * FILTER] = {
    1, 4, 6, 4, 1,
    4, 16, 24, 16, 4,
    6, 24, 36, 24, 6,
    4, 16, 24, 16, 4,
    1, 4, 6, 4, 1,
};

__global__ void convolution_constant(const float *image, float *result, int w, int h)
{
    const int2 p = make_int2(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y);
    if (p.x >= w || p.y >= h) return;
    float sum = 0.f;
    for (int dy = -FILTER / 2; dy <= FILTER / 2; ++dy)
        for (int dx = -FILTER / 2; dx <= FILTER / 2; ++dx) {
            int sx = p.x + dx, sy = p.y + dy;
            if (sx < 0 || sy < 0 || sx >= w || sy >= h) continue;
            sum += image[sy * w + sx] * weights[(dy + FILTER / 2) * FILTER + dx + FILTER / 2];
        }
    result[p.y * w + p.x] = sum / 256.0f;
}
