#include <cstdint>
#include "cuda_runtime.h"
#define CEIL_DIV(a, b) (((a) + (b) - 1) / (b))
#define NAME(x) x##_limit

typedef unsigned int u32;
using real = float;
enum Mode { First, Second = 5, Third };
enum class Color { Red, Green = 3 };
constexpr int LIMIT = CEIL_DIV(100, 7);
__constant__ float weights[4] = {0.25f, 0.5f, 0.75f, 1.0f};
__constant__ int table[3];
__device__ unsigned int counter;

struct Pair { int first; float second; };

__device__ int gcd(int a, int b)
{
    while (b != 0) { int t = a % b; a = b; b = t; }
    return a;
}

__device__ Pair make_pair(int a, float b) { Pair p; p.first = a; p.second = b; return p; }

__device__ void exchange(int *a, int *b) { int t = *a; *a = *b; *b = t; }

template <int N, typename T = int>
__device__ T sum_of(const T *values)
{
    T total = 0;
    for (int i = 0; i < N; i++) total += values[i];
    return total;
}

__device__ const float *row_of(const float *matrix, int row, int width) { return matrix + row * width; }

__global__ void language(int *out, const float *in, short *shorts, bool flag, u32 n, Pair pair, float4 vec)
{
    int i = threadIdx.x + blockIdx.x * blockDim.x;
    if (i >= n) return;
    int values[LIMIT];
    for (int k = 0; k < LIMIT; k++) { if (k % 3 == 1) continue; if (k > 12) break; values[k] = k * i; }
    int a = 12, b = i;
    exchange(&a, &b);
    exchange(&values[0], &values[2]);
    int acc = gcd(a, b) + sum_of<4>(values);
    switch (i & 3) {
    case 0: acc += 1;
    case 1: acc += 2; break;
    case Third: case 2: { acc ^= 0x55; break; }
    default: acc = -acc;
    }
    const float *p = row_of(in, i, 4);
    const float *end = p + 4;
    real total = 0;
    while (p < end) total += *p++;
    do { acc++; } while (acc < 0 && flag);
    unsigned char byte = (unsigned char)(acc + 250);
    byte += 10;
    shorts[i] = (short)(acc * 1000) + byte;
    Pair q = make_pair(acc, total);
    q.first += pair.first, q.second *= pair.second;
    acc = q.first > 3 ? q.first : (int)q.second;
    float w[2][3] = {{1, 2, 3}, {4, 5, 6}};
    w[i & 1][i % 3] += weights[i & 3] + table[i % 3];
    acc += (int)w[0][0] + (int)sizeof(Pair) + (int)Color::Green + First;
    atomicInc(&counter, 100u);
    atomicMax(&out[1], acc);
    out[i] = acc + __float_as_int(vec.x) + __popc(n);
}

struct Table { int values[4]; float scale; };

__device__ Table table_of(int i) { Table t = {{i, 1, 2, 3}, 0.5f}; return t; }

__global__ void arrays_by_value(int *out, Table table, int n)
{
    int i = threadIdx.x;
    out[-1] = out[4000000000u];
    out[i] = table.values[i & 3] + table_of(i).values[n & 3];
}
