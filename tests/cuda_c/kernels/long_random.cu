// Generators of pseudorandom numbers with 64 bits of state.
#include <cstdint>

__device__ uint64_t lcg(uint64_t &state) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return state;
}

__device__ uint64_t splitmix64(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

struct Xorshift {
    uint64_t state;

    __device__ uint64_t next() {
        state ^= state >> 12;
        state ^= state << 25;
        state ^= state >> 27;
        return state * 0x2545F4914F6CDD1DULL;
    }
};

__device__ uint32_t pcg32(uint64_t *state, uint64_t inc) {
    uint64_t old = *state;
    *state = old * 6364136223846793005ULL + (inc | 1);
    uint32_t shifted = (uint32_t)(((old >> 18u) ^ old) >> 27u);
    uint32_t rot = old >> 59u;
    return (shifted >> rot) | (shifted << ((-rot) & 31));
}

__global__ void long_random(const uint64_t *seeds, uint64_t *out, float *uniform, int n, int rounds) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint64_t a = seeds[i], b = seeds[i], c = seeds[i];
    Xorshift x{seeds[i] | 1};
    uint64_t sums[4] = {0, 0, 0, 0};
    for (int k = 0; k < rounds; k++) {
        sums[0] += lcg(a) >> 11;
        sums[1] ^= splitmix64(&b);
        sums[2] += x.next();
        sums[3] = sums[3] * 31 + pcg32(&c, i);
    }
    for (int k = 0; k < 4; k++) out[4 * i + k] = sums[k];
    uniform[i] = (splitmix64(&b) >> 40) * (1.0f / 16777216.0f);
}
