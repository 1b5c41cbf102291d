// Vector types: construction, members, loads and stores.
__device__ inline float dot4(float4 a, float4 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w;
}

__global__ void vectors(const float4 *a, const float2 *b, const int4 *c, float4 *out, uint2 *pairs, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = a[i];
    float2 w = b[i];
    int4 k = c[i];
    v.x += w.x;
    v.w *= w.y;
    float3 t = make_float3(v.y, v.z, 1.0f);
    t.z = dot4(v, make_float4(1.0f, 2.0f, 3.0f, 4.0f));
    out[i] = make_float4(t.z, v.x, t.x, v.w);
    out[i].z -= t.y;
    int2 both = make_int2(k.x + k.y, k.z * k.w);
    pairs[i] = make_uint2(both.x, both.y);
}
