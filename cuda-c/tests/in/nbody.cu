struct Body { float3 position; float mass; float velocity[3]; int kind; };

__device__ float3 operator+(float3 a, float3 b) { return make_float3(a.x + b.x, a.y + b.y, a.z + b.z); }

__device__ void pull(const float4 &from, float4 to, float3 &force)
{
    float dx = to.x - from.x, dy = to.y - from.y, dz = to.z - from.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 1e-9f);
    float scale = to.w * inverse * inverse * inverse;
    force = force + make_float3(dx * scale, dy * scale, dz * scale);
}

__global__ void nbody(const float4 *in, Body *out, int n, float dt)
{
    __shared__ float4 tile[64];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 mine = i < n ? in[i] : make_float4(0, 0, 0, 0);
    float3 force = {0, 0, 0};
    for (int start = 0; start < n; start += 64) {
        tile[threadIdx.x] = start + threadIdx.x < n ? in[start + threadIdx.x] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        __syncthreads();
        for (int j = 0; j < 64; j++) pull(mine, tile[j], force);
        __syncthreads();
    }
    if (i >= n) return;
    Body *body = &out[i];
    body->velocity[0] += force.x * dt;
    body->velocity[1] += force.y * dt;
    body->velocity[2] += force.z * dt;
    body->position = body->position + force;
    body->mass = mine.w;
    out[i].kind++;
}
