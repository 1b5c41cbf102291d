// const, constexpr, constant expressions as array lengths, and local constant arrays.
constexpr int WIDTH = 4;
const int HEIGHT = WIDTH * 2 - 5;
static const float SCALE = 0.5f;
constexpr int square(int v) { return v * v; }

__global__ void constants(const int *in, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    const int weights[HEIGHT][WIDTH] = {{1, 2, 3, 4}, {5, 6, 7, 8}, {-1, -2}};
    constexpr int LAST = square(WIDTH) - 4;
    int cells[LAST + 1];
    int sum = 0;
    for (int r = 0; r < HEIGHT; r++)
        for (int c = 0; c < WIDTH; c++) {
            cells[r * WIDTH + c] = weights[r][c] * in[i];
            sum += cells[r * WIDTH + c];
        }
    cells[LAST] = sum;
    out[i] = cells[LAST] * SCALE + weights[in[i] & 1][i & 3];
}
