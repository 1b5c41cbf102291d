// Atomics on members of structs.
struct Totals { int count; unsigned mask; int sums[2]; };

__global__ void atomic_member(const int *in, Totals *totals, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Totals *own = &totals[i % 2];
    atomicAdd(&own->count, 1);
    atomicOr(&own->mask, 1u << (in[i] & 31));
    atomicAdd(&totals->sums[i % 2], in[i]);
}
