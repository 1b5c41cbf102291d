union Word {
    float real;
    int integer;
    unsigned bits;
};

__device__ float next_float(unsigned &state) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    union {
        float f;
        int i;
    } u;
    u.i = (state & 0x7fffff) | 0x3f800000;
    return u.f - 1.0f;
}

__global__ void unions(Word *words, float *randoms, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        Word word = words[i];
        word.bits ^= 0x80000000u;
        word.real += 1.0f;
        Word pair[2];
        pair[0] = word;
        pair[1].integer = i;
        words[i] = i % 3 == 0 ? word : pair[i % 2];
        unsigned state = i + 1;
        randoms[i] = next_float(state) + next_float(state);
    }
}
