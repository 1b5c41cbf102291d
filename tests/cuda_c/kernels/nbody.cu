// Gravity of all bodies on each body, through tiles of positions in shared memory.
#define TILE 64

__device__ void attract(float3 &pull, const float4 &here, const float4 &there)
{
    float dx = there.x - here.x, dy = there.y - here.y, dz = there.z - here.z;
    float inverse = rsqrtf(dx * dx + dy * dy + dz * dz + 0.01f);
    float strength = there.w * (inverse * inverse * inverse);
    pull.x = fmaf(dx, strength, pull.x);
    pull.y = fmaf(dy, strength, pull.y);
    pull.z = fmaf(dz, strength, pull.z);
}

__global__ void nbody(const float4 *bodies, float4 *velocities, float dt, int n)
{
    __shared__ float4 tile[TILE];
    const int i = blockDim.x * blockIdx.x + threadIdx.x;
    const float4 nothing = make_float4(0, 0, 0, 0);
    float4 here = nothing;
    if (i < n) here = bodies[i];
    float3 pull = {0.0f, 0.0f, 0.0f};
    for (int first = 0; first < n; first += TILE) {
        int source = first + (int)threadIdx.x;
        tile[threadIdx.x] = source < n ? bodies[source] : nothing;
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < TILE; k++) attract(pull, here, tile[k]);
        __syncthreads();
    }
    if (i >= n) return;
    velocities[i].x += dt * pull.x;
    velocities[i].y += dt * pull.y;
    velocities[i].z += dt * pull.z;
}
