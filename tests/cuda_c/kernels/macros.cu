// Object-like and function-like macros, conditions, line splices and nesting.
#define N_TERMS 6
#define SQUARE(x) ((x) * (x))
#define AT(array, row, column, width) array[(row) * (width) + (column)]
#define MIX(a, b) (SQUARE(a) + \
                   SQUARE(b))
#define LOOP(v, end) for (int v = 0; v < (end); ++v)
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define EMPTY
#ifndef SCALE
#define SCALE 3
#endif
#if defined(SCALE) && SCALE > 2
#define BIAS 7
#elif SCALE == 2
#define BIAS 6
#else
#define BIAS 5
#endif
#ifdef NEVER
this is not code
#endif
#define ONCE 1
#undef ONCE
#define ONCE 2

__global__ void macros(const int *in, int *out, int width, int height)
{
    int i = THREAD;
    if (i >= width) return;
    int sum = 0;
    LOOP(row, height) { sum += AT(in, row, i, width) EMPTY; }
    LOOP(k, N_TERMS)
        sum += MIX(k, sum & 3);
    out[i] = sum * SCALE + BIAS + ONCE /* a comment */ + __CUDA_ARCH__ / __CUDA_ARCH__;
}
