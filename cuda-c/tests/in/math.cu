#include <math.h>
__global__ void functions(const float *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float x = in[i], s, c, w;
    int e;
    sincosf(x, &s, &c);
    float r = sqrtf(fabsf(x)) + rsqrtf(x * x + 1.0f) + expf(-x) + exp2f(x) + logf(fabsf(x) + 1) + log2f(2.f) + log10f(3.f);
    r += powf(x, 3.0f) + powf(x, 2.0f) + s * c + tanf(x) + asinf(0.5f) + atan2f(x, 2.0f) + tanhf(x);
    r += fminf(x, 1.0f) + fmaxf(x, 1) + floorf(x) + ceilf(x) + roundf(x) + truncf(x) + rintf(x) + fmodf(x, 0.7f) + fmaf(x, x, x);
    r += __expf(x) + __fdividef(x, 3.0f) + min(3, 4) + max(i, 4) + abs(-i) + __float2int_rd(x) + __int_as_float(0x3f800000);
    r += __saturatef(x) + erff(x) + erfcf(x) + cbrtf(x) + hypotf(x, 3.0f) + copysignf(1.0f, x) + ldexpf(x, 2) + modff(x, &w) + frexpf(x, &e);
    r += log1pf(x) + expm1f(x) + normcdff(x) + sinpif(x) + isnan(x) + isinf(x) + isfinite(x) + w + e;
    r += 1.0 / 3.0 + 2 * M_PI;
    out[i] = r == INFINITY ? NAN : r;
    out[i] += __popc(i) + __clz(i) + __ffs(i) + __brev(i) + __mulhi(i, i) + __umulhi(i, i) + __byte_perm(i, i, 0x0123) + __funnelshift_l(i, i, 3);
}
