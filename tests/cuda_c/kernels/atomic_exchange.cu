// atomicExch: each value ends up in exactly one place.
__global__ void atomic_exchange(const int *in, int *slot, int *sum, float *real_slot, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int before = atomicExch(slot, in[i]);
    atomicAdd(sum, in[i] - before);
    float old = atomicExch(real_slot, 2.5f);
    if (old != 2.5f && old != -1.0f) atomicAdd(sum, 100000);
}
