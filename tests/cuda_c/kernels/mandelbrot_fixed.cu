// Mandelbrot set in fixed point, 12 bits after the point.
#define FIXED(v) ((int)((v) * 4096))
__device__ __forceinline__ int multiply(int a, int b) { return (a * b) >> 12; }

__global__ void mandelbrot_fixed(unsigned char *shades, int width, int height)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < width && py < height) {
        int cr = FIXED(-2.0f) + px * (FIXED(3.0f) / width);
        int ci = FIXED(-1.0f) + py * (FIXED(2.0f) / height);
        int zr = 0, zi = 0;
        unsigned char k = 0;
        while (k < 200) {
            int rr = multiply(zr, zr), ii = multiply(zi, zi);
            if (rr + ii > FIXED(4)) break;
            zi = 2 * multiply(zr, zi) + ci;
            zr = rr - ii + cr;
            k++;
        }
        shades[py * width + px] = 255 - k;
    }
}
