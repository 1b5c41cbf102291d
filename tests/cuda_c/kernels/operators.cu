// Operators for vectors, as programs define them for themselves.
inline __device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }
inline __device__ float3 operator*(float s, const float3 &v) { return make_float3(s * v.x, s * v.y, s * v.z); }
inline __device__ float3 operator-(float3 v) { return make_float3(-v.x, -v.y, -v.z); }
inline __device__ void operator+=(float3 &a, float3 b) { a.x += b.x; a.y += b.y; a.z += b.z; }
__device__ float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
__device__ float3 cross(float3 a, float3 b)
{
    return make_float3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

__global__ void operators(const float3 *a, const float3 *b, float3 *out, float *dots, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float3 sum = a[i] + 2.0f * b[i];
    sum += -cross(a[i], b[i]);
    out[i] = sum;
    dots[i] = dot(sum, a[i]);
}
