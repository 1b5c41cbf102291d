// Sum of each block by a tree, with two loads for each thread, in dynamic shared memory.
__global__ void reduce_tree(const int *values, int *sums, unsigned n)
{
    extern __shared__ int tree[];
    const unsigned t = threadIdx.x, width = blockDim.x;
    const unsigned first = 2 * width * blockIdx.x + t;
    int mine = first < n ? values[first] : 0;
    mine += first + width < n ? values[first + width] : 0;
    tree[t] = mine;
    for (unsigned half = width / 2; half; half >>= 1) {
        __syncthreads();
        if (t >= half) continue;
        tree[t] = mine = mine + tree[t + half];
    }
    if (t == 0) sums[blockIdx.x] = mine;
}
