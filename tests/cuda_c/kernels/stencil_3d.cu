// Seven-point stencil, marching along z with values in registers.
__global__ void stencil_3d(const float *__restrict__ in, float *__restrict__ out, int nx, int ny, int nz)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int j = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= nx - 1 || j >= ny - 1) return;
    const int stride = nx * ny;
    int at = j * nx + i;
    float below, current = in[at], above = in[at + stride];
    for (int k = 1; k < nz - 1; k++) {
        at += stride;
        below = current;
        current = above;
        above = in[at + stride];
        out[at] = 0.5f * current + 0.125f * (in[at - 1] + in[at + 1] + in[at - nx] + in[at + nx]) + 0.0625f * (above + below);
    }
}
