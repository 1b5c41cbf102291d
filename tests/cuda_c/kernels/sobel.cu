// Sobel operator on bytes.
__device__ int pixel(const unsigned char *image, int x, int y, int w, int h)
{
    x = x < 0 ? 0 : (x >= w ? w - 1 : x);
    y = y < 0 ? 0 : (y >= h ? h - 1 : y);
    return image[y * w + x];
}

__global__ void sobel(const unsigned char *src, unsigned char *dst, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h) return;
    int gx = 0, gy = 0;
    for (int d = -1; d <= 1; d++) {
        int weight = d == 0 ? 2 : 1;
        gx += weight * (pixel(src, x + 1, y + d, w, h) - pixel(src, x - 1, y + d, w, h));
        gy += weight * (pixel(src, x + d, y + 1, w, h) - pixel(src, x + d, y - 1, w, h));
    }
    int magnitude = abs(gx) + abs(gy);
    dst[y * w + x] = (unsigned char)(magnitude > 255 ? 255 : magnitude);
}
