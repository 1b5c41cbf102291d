// Mean of the pixels around each pixel, of three channels interleaved.
typedef unsigned char uchar;
__global__ void box_blur(const uchar *input, uchar *output, int width, int height, int radius)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x;
    int y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    for (int channel = 0; channel < 3; channel++) {
        int total = 0, count = 0;
        for (int yy = y - radius; yy <= y + radius; yy++) {
            if (yy < 0 || yy >= height) continue;
            for (int xx = x - radius; xx <= x + radius; xx++) {
                if (xx >= 0 && xx < width) {
                    total += input[(yy * width + xx) * 3 + channel];
                    ++count;
                }
            }
        }
        output[(y * width + x) * 3 + channel] = total / count;
    }
}
