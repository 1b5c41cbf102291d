// Names that mean something in WGSL, or that programs share with built-in functions.
struct vec3 { int x, y, z; };
__device__ int select(int a, int b, bool c) { return c ? a : b; }
__device__ float clamp(float x, float a, float b) { return fmaxf(a, fminf(x, b)); }
__device__ float lerp(float a, float b, float t) { return a + t * (b - a); }
__device__ int step(int fn) { return fn + 1; }

__global__ void distance(const int *array, int *self, float *type, int length)
{
    int var = blockIdx.x * blockDim.x + threadIdx.x;
    if (var >= length) return;
    int let = array[var], loop = 0, ptr = 3, f32 = 1, i32 = 2, _private = 4, __hidden = 5;
    vec3 mat2x2 = {let, ptr, f32};
    for (int fn = 0; fn < 3; fn++) loop = select(loop + fn, step(loop), fn & 1);
    float match = clamp((float)let * 0.25f, -1.0f, 1.0f), texture_2d = lerp(match, 2.0f, 0.5f);
    int workgroup = mat2x2.x + mat2x2.y * 10 + mat2x2.z * 100, max = 6, discard = max + i32;
    self[var] = loop * 1000 + workgroup + f32 + discard * _private + __hidden;
    type[var] = match + texture_2d;
}
