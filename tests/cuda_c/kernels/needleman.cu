// One anti-diagonal of a Needleman-Wunsch table.
__device__ __host__ int best_of(int match, int gap_left, int gap_up)
{
    int gap;
    if (gap_left < gap_up) gap = gap_up; else gap = gap_left;
    if (match < gap)
        return gap;
    else
        return match;
}

__global__ void needleman(const int *similarity, int *table, int side, int penalty, int diagonal)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x + 1;
    int column = diagonal + 1 - row;
    if (row < side && column > 0 && column < side) {
        int *cell = table + row * side + column;
        *cell = best_of(cell[-side - 1] + similarity[row * side + column], cell[-1] - penalty, *(cell - side) - penalty);
    }
}
