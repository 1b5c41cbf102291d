// Parameters by value: a struct, vectors, a bool and small integers.
struct Settings {
    float scale;
    int offset;
    unsigned limits[4];
    float2 window;
};

__global__ void struct_parameter(const float *in, float *out, Settings settings, float4 weights, bool negate, short shift, unsigned char pick, int3 stride, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float v = in[i] * settings.scale + settings.offset + shift;
    v = fminf(fmaxf(v, settings.window.x), settings.window.y);
    v += settings.limits[i & 3] * weights.w + weights.x + stride.z - stride.x;
    if (negate) v = -v;
    out[i] = v + pick;
}
