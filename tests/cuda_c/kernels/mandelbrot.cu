// Mandelbrot set: iterations until escape.
__global__ void mandelbrot(int *iterations, int width, int height, float x0, float y0, float step, int limit)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x;
    int py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px >= width || py >= height) return;
    float cr = x0 + px * step, ci = y0 + py * step;
    float zr = 0.0f, zi = 0.0f;
    int k;
    for (k = 0; k < limit && zr * zr + zi * zi < 4.0f; ++k) {
        float t = zr * zr - zi * zi + cr;
        zi = 2.0f * zr * zi + ci;
        zr = t;
    }
    iterations[py * width + px] = k;
}
