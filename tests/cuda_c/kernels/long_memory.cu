// 64-bit integers in buffers, structures, shared and local arrays and constants, and buffers seen as words and as 64 bits.
struct Record {
    int key;
    long long value;
    short small;
    unsigned long long mask[2];
};

__constant__ unsigned long long primes[5] = {2, 0x100000001ULL, 18446744073709551557ULL, 4294967311, 7};
__constant__ Record first = {-1, -5000000000, 3, {1, 1ULL << 63}};

__global__ void long_memory(const Record *in, Record *out, unsigned long long *words, int n) {
    __shared__ long long tile[64];
    __shared__ Record records[64];
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    tile[t] = in[i].value * (t + 1);
    records[t] = in[i];
    records[t].mask[1] ^= primes[t % 5];
    __syncthreads();
    long long local[4];
    for (int k = 0; k < 4; k++) local[k] = tile[(t + k) & 63] >> k;
    long long sum = 0;
    for (int k = 0; k < 4; k++) sum += local[(k * 3) & 3] * (k + 1);
    Record record = records[63 - t];
    record.value += sum;
    record.key = (int)(record.mask[0] >> 32) + first.key;
    record.mask[0] = first.value + primes[2] + first.mask[1];
    out[i] = record;
    longlong2 pair = make_longlong2(sum, record.value);
    words[2 * i] = pair.x ^ pair.y;
    words[2 * i + 1] += primes[i % 5];
}

__global__ void long_views(unsigned *words, int *low, const uint2 *pairs, long long *sums, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    unsigned long long *wide = (unsigned long long *)words;
    unsigned long long old = wide[i];
    low[i] = words[2 * i] ^ words[2 * i + 1];
    wide[i] = old * 0x9e3779b97f4a7c15ULL + 1;
    const long long *p = reinterpret_cast<const long long *>(pairs);
    sums[i] = p[i] - (long long)pairs[i].y;
    ((short *)sums)[4 * i + 3] = 77;
}

__global__ void long_warps(const long long *in, long long *out, long long *totals) {
    extern __shared__ unsigned long long scratch[];
    int t = threadIdx.x;
    long long v = in[blockIdx.x * blockDim.x + t];
    long long other = __shfl_xor_sync(~0u, v, 5);
    unsigned long long up = __shfl_up_sync(~0u, (unsigned long long)v, 1);
    out[blockIdx.x * blockDim.x + t] = other - (long long)up;
    for (int by = 16; by > 0; by /= 2) v += __shfl_down_sync(~0u, v, by);
    if (t % 32 == 0) scratch[t / 32] = v;
    __syncthreads();
    if (t == 0) totals[blockIdx.x] = scratch[0] + scratch[1];
}
