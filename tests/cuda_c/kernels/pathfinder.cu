// Cheapest way down a grid of costs, several rows in one launch: each block redoes a margin of its neighbours' work.
#define THREADS 64

__device__ inline int cheapest(int left, int here, int right)
{
    int best = here;
    if (left < best) best = left;
    if (right < best) best = right;
    return best;
}

__global__ void pathfinder(int rows, const int *costs, const int *start, int *total, int width, int top)
{
    __shared__ int paths[2][THREADS];
    const int t = threadIdx.x;
    const int owned = THREADS - 2 * rows;
    const int column = (int)blockIdx.x * owned - rows + t;
    const bool inside = column >= 0 && column < width;
    int now = 0;
    paths[now][t] = inside ? start[column] : 0x3fffffff;
    __syncthreads();
    for (int r = 0; r < rows; r++) {
        int mine = 0x3fffffff;
        if (inside) {
            int left = t > 0 ? paths[now][t - 1] : mine;
            int right = t < THREADS - 1 ? paths[now][t + 1] : mine;
            mine = cheapest(left, paths[now][t], right) + costs[(top + r) * width + column];
        }
        now ^= 1;
        paths[now][t] = mine;
        if (r + 1 == rows) break;
        __syncthreads();
    }
    if (t >= rows && t < rows + owned && inside) total[column] = paths[now][t];
}
