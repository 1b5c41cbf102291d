// Operators on 64-bit integers, the conversions of C around them, and the functions on their bits.
#include <climits>
#include <cstdint>

template <typename T>
__device__ T clamped(T value, T low, T high) {
    return min(max(value, low), high);
}

__device__ long long sign(long long v) { return v < 0 ? -1LL : v > 0 ? 1LL : 0LL; }
__device__ int kind(int) { return 1; }
__device__ int kind(unsigned long) { return 2; }
__device__ int kind(long) { return 3; }
__device__ int kind(float) { return 4; }

__global__ void long_operators(const long long *a, const long long *b, long long *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    long long x = a[i], y = b[i];
    long long *to = out + 16 * i;
    to[0] = x + y;
    to[1] = x - y;
    to[2] = x * y;
    to[3] = x / y;
    to[4] = x % y;
    to[5] = (x & y) ^ (x | 0x5555555555555555);
    to[6] = ~x - -y;
    to[7] = x << (i & 63);
    to[8] = x >> (y & 63);
    to[9] = (x < y) + 2 * (x <= y) + 4 * (x == y) + 8 * (x != y) + 16 * (x > y) + 32 * (x >= y) + 64 * !x;
    long long v = x;
    v += i;
    v -= 3000000000;
    v *= 7;
    v ^= y;
    v >>= 3LL;
    to[10] = v++;
    to[10] += 3 * --v;
    v--;
    to[10] ^= v;
    to[11] = sign(x) * (x && y ? 10 : 20);
    to[12] = abs(x >> 1) + min(x, y) - max(x, 5LL);
    to[13] = clamped(x, -1000000000000LL, 1000000000000LL);
    bool flag = x;
    to[14] = flag + (long long)(y > 0);
    switch ((int)(x & 3)) {
    case 0: to[15] = LLONG_MAX; break;
    case 1: to[15] = LLONG_MIN; break;
    default: to[15] = x ? 0x7fffffffffffffff & ~y : 0; break;
    }
}

__global__ void long_unsigned(const unsigned long long *a, const unsigned long *b, uint64_t *out, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long x = a[i], y = b[i];
    uint64_t *to = out + 12 * i;
    to[0] = x / y;
    to[1] = x % y;
    to[2] = -x + ~y;
    to[3] = x >> 7 | x << 57;
    to[4] = (x < y) + 2 * (x <= y) + 4 * (x > y);
    to[5] = __popcll(x) + 100 * __clzll(x >> (i & 63)) + 10000 * __ffsll(x & ~0xffffffffULL) + 1000000 * __clzll(0);
    to[6] = __brevll(x);
    to[7] = __umul64hi(x, y);
    to[8] = __mul64hi((long long)x, (long long)y);
    to[9] = min(x, y) ^ max(x, (unsigned long long)i);
    to[10] = x % 10 + x / 1000000007ULL;
    to[11] = UINT64_MAX - (ULLONG_MAX >> 60);
}

__global__ void long_conversions(const int *a, const float *f, long long *out, float *floats, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int x = a[i];
    unsigned u = x;
    long long *to = out + 16 * i;
    to[0] = x;
    to[1] = u;
    to[2] = (unsigned long long)x;
    to[3] = (long long)x * x;
    to[4] = x * 1L + u;
    to[5] = u - 1L;
    to[6] = (int)(to[3] >> 5);
    to[7] = (unsigned)to[3];
    to[8] = (char)to[3] + 1000 * (unsigned short)(to[3] >> 3) + 1000000000LL * (short)to[2];
    to[9] = (long long)f[i];
    to[10] = (long long)(unsigned long long)fabsf(f[i]);
    to[11] = (-1L < 1U) + 2 * (-1 < 1UL) + 4 * (2147483648 > 0) + 8 * (0xffffffff == 4294967295) + 16 * (-2147483648 < 0);
    to[12] = kind(1) + 10 * kind(1L) + 100 * kind(1UL) + 1000 * kind(4294967296) + 10000 * kind(1 + 1UL) + 100000 * kind(1L * 1.0f);
    to[13] = sizeof(long) + 10 * sizeof(1ULL) + 100 * sizeof(x + 1L) + 1000 * sizeof(int64_t) + 10000 * alignof(unsigned long);
    to[14] = __float2ll_rn(f[i]) + (1LL << 40) - llrintf(f[i]);
    to[15] = u << 1 | 1ULL << (x & 63);
    floats[3 * i] = to[3];
    floats[3 * i + 1] = (float)(unsigned long long)to[0] * 0.5f;
    floats[3 * i + 2] = to[3] / 3.0f + __ll2float_rn(to[0]);
}
