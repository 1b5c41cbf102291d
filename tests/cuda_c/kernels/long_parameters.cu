// 64-bit scalars and structures with 64-bit members by value, with the gaps of CUDA's layout.
struct Range {
    int step;
    long long start;
    float scale;
};

struct Bits {
    unsigned long long mask;
    unsigned low, high;
};

__device__ long long at(Range range, int i) { return range.start + (long long)range.step * i; }

__global__ void long_parameters(int n, long long base, unsigned char shift, Range range, unsigned long long factor, bool up,
                                int offset, Bits bits, int last, long long *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long v = at(range, i) * (up ? 1 : -1) + base + offset;
    out[3 * i] = (v << shift) + (long long)(range.scale * i);
    out[3 * i + 1] = (v * factor) & bits.mask;
    out[3 * i + 2] = (long long)bits.high << 32 | bits.low + last;
}
