// One step of a bitonic sort in global memory: both threads of a pair look, the lower one exchanges.
__global__ void bitonic_step(float *values, int distance, int run)
{
    unsigned low = threadIdx.x + blockDim.x * blockIdx.x, high = low ^ distance;
    if (high <= low) return;
    float a = values[low], b = values[high];
    const bool descending = low & run;
    if (descending ? a < b : a > b) {
        values[low] = b;
        values[high] = a;
    }
}
