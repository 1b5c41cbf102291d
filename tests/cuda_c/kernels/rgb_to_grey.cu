// Luminance of colours in bytes, by integer weights and by floats.
struct Rgb { unsigned char r, g, b, a; };
__global__ void rgb_to_grey(const Rgb *pixels, unsigned char *grey, float *exact, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Rgb p = pixels[i];
    grey[i] = (p.r * 77 + p.g * 150 + p.b * 29) >> 8;
    exact[i] = 0.299f * p.r + 0.587f * p.g + 0.114f * p.b;
}
