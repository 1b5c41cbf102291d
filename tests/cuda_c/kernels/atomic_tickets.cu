// Results of atomics: each thread draws a ticket of its own.
__global__ void atomic_tickets(unsigned int *counter, int *drawn, int *order_is_kept, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned first = atomicAdd(counter, 2);
    drawn[first] = 1;
    drawn[first + 1] = 1;
    order_is_kept[i] = *counter > first;
}
