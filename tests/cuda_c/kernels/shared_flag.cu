// A loop that ends by a flag in shared memory: propagation of the smallest label along a chain.
__global__ void shared_flag(const int *links, int *labels, int *rounds)
{
    __shared__ int label[64];
    __shared__ bool changed;
    int t = threadIdx.x, base = blockIdx.x * 64, count = 0;
    label[t] = t;
    do {
        __syncthreads();
        if (t == 0) changed = false;
        __syncthreads();
        int other = label[links[base + t]];
        __syncthreads();
        if (other < label[t]) {
            label[t] = other;
            changed = true;
        }
        count++;
        __syncthreads();
    } while (changed);
    labels[base + t] = label[t];
    if (t == 0) rounds[blockIdx.x] = count > 1;
}
