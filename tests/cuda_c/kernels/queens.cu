// Solutions of the eight queens that start with a given first row, by a stack of bit masks.
#define SIZE 8
__global__ void queens(int *solutions)
{
    if (threadIdx.x >= SIZE) return;
    unsigned full = (1u << SIZE) - 1;
    unsigned columns[SIZE + 1], down[SIZE + 1], up[SIZE + 1], open[SIZE + 1];
    unsigned first = 1u << threadIdx.x;
    int depth = 1, count = 0;
    columns[1] = first;
    down[1] = first << 1;
    up[1] = first >> 1;
    open[1] = full & ~(columns[1] | down[1] | up[1]);
    while (depth > 0) {
        if (open[depth] == 0) { depth--; continue; }
        unsigned bit = open[depth] & -open[depth];
        open[depth] ^= bit;
        if (depth == SIZE - 1) { count++; continue; }
        columns[depth + 1] = columns[depth] | bit;
        down[depth + 1] = (down[depth] | bit) << 1;
        up[depth + 1] = (up[depth] | bit) >> 1;
        depth++;
        open[depth] = full & ~(columns[depth] | down[depth] | up[depth]);
    }
    solutions[threadIdx.x] = count;
}
