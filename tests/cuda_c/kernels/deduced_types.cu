// auto, nullptr and uint.
__global__ void deduced_types(const float *in, uint *out, float *reals, int n)
{
    const auto i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    auto v = in[i];
    auto twice = v * 2;
    const auto *next = in + (i + 1) % n;
    auto whole = (int)v;
    whole >>= 1;
    uint bits = whole;
    reals[i] = twice + *next;
    out[i] = next == nullptr ? 0u : bits;
}
