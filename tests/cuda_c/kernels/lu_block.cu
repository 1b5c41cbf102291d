// LU decomposition of one block on the diagonal, in shared memory: a row for each thread.
#define SIDE 16

__global__ void lu_block(float *matrix, int pitch, int corner)
{
    __shared__ float part[SIDE * SIDE];
    const unsigned me = threadIdx.x;
    float *origin = matrix + corner * pitch + corner;
    for (int r = 0; r != SIDE; ++r) part[r * SIDE + me] = origin[r * pitch + me];
    for (unsigned k = 0; k < SIDE - 1; k++) {
        __syncthreads();
        if (me <= k) continue;
        float *row = &part[me * SIDE];
        const float *pivot = &part[k * SIDE];
        float factor = row[k] / pivot[k];
        row[k] = factor;
        for (unsigned c = k + 1; c < SIDE; c++) row[c] -= factor * pivot[c];
    }
    __syncthreads();
    for (int r = 0; r != SIDE; ++r) origin[r * pitch + me] = part[r * SIDE + me];
}
