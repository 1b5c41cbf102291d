// Vectors in local and shared arrays, and uint3 of the launch.
__global__ void vector_array(const float2 *in, float2 *out, int *places, int n)
{
    __shared__ float2 tile[32];
    const uint3 thread = threadIdx;
    dim3 block = blockDim;
    int i = blockIdx.x * block.x + thread.x;
    tile[thread.x] = i < n ? in[i] : make_float2(0.0f, 0.0f);
    __syncthreads();
    float2 pair[2];
    pair[0] = tile[31 - thread.x];
    pair[1].x = pair[0].y;
    pair[1].y = pair[0].x + tile[thread.x].x;
    if (i < n) {
        out[i] = pair[1];
        places[i] = thread.x + thread.y * 1000 + block.y * 100 + gridDim.x * 10000;
    }
}
