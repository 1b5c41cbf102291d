// A step of heat conduction on a plate with power, ambient cooling and insulated edges.
#define AMBIENT 80.0f
__global__ void hotspot(const float *power, const float *heat, float *next, int width, int height, float cap, float rx, float ry, float rz, float dt)
{
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    const int at = y * width + x;
    const float own = heat[at];
    float flow = power[at] + (AMBIENT - own) / rz;
    if (x > 0) flow += (heat[at - 1] - own) / rx;
    if (x + 1 < width) flow += (heat[at + 1] - own) / rx;
    if (y > 0) flow += (heat[at - width] - own) / ry;
    if (y + 1 < height) flow += (heat[at + width] - own) / ry;
    next[at] = own + dt / cap * flow;
}
