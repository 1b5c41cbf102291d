#include <cuda_fp16.h>

struct Pixel {
    half value;
    unsigned short tag;
};

// One buffer is read as halves, as pairs and as words, so that its elements are parts of words.
__global__ void half_words(const half *a, half *out, Pixel *pixels, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    const half2 *pairs = reinterpret_cast<const half2 *>(a);
    const unsigned *words = (const unsigned *)a;
    half2 p = pairs[i % (n / 2)];
    out[3 * i] = a[i];
    out[3 * i + 1] = p.y;
    out[3 * i + 2] = __ushort_as_half(words[i / 2] & 0xffff);
    reinterpret_cast<half2 *>(out + 3 * n)[i] = __hneg2(p);
    Pixel pixel = pixels[i];
    pixel.value = pixel.value + a[i];
    pixel.tag++;
    pixels[i] = pixel;
}
