// SHA-256 of one block of 64 bytes for each thread (FIPS 180-4), with a schedule of 16 words that is reused.
__constant__ unsigned round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

#define TURN(word, bits) __funnelshift_r(word, word, bits)

__device__ unsigned mix(unsigned word, int first, int second, int third, bool shift)
{
    unsigned last = shift ? word >> third : TURN(word, third);
    return TURN(word, first) ^ TURN(word, second) ^ last;
}

__global__ void sha256_block(const unsigned char *data, unsigned *states, int n)
{
    int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= n) return;
    unsigned *state = states + 8 * thread;
    const unsigned char *byte = &data[64 * thread];
    unsigned w[16] = {}, v[8];
    for (int i = 0; i < 64; i++) w[i / 4] = w[i / 4] << 8 | *byte++;
    for (int i = 0; i < 8; i++) v[i] = state[i];
    for (int t = 0; t < 64; t++) {
        if (t >= 16)
            w[t & 15] += w[(t + 9) & 15] + mix(w[(t + 1) & 15], 7, 18, 3, true) + mix(w[(t + 14) & 15], 17, 19, 10, true);
        unsigned choice = (v[4] & v[5]) | (~v[4] & v[6]);
        unsigned majority = (v[0] & v[1]) | (v[2] & (v[0] | v[1]));
        unsigned added = v[7] + mix(v[4], 6, 11, 25, false) + choice + round_constants[t] + w[t & 15];
        unsigned top = added + mix(v[0], 2, 13, 22, false) + majority;
        for (int i = 7; i > 0; i--) v[i] = v[i - 1];
        v[4] += added;
        v[0] = top;
    }
    for (int i = 0; i < 8; i++) state[i] += v[i];
}
