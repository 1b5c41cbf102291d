// A hash of four words for each thread, by multiplications and rotations.
#define PRIME1 2654435761U
#define PRIME2 2246822519U
#define PRIME3 3266489917U
#define PRIME4 668265263U
#define PRIME5 374761393U
#define ROTL(x, r) (((x) << (r)) | ((x) >> (32 - (r))))

__device__ unsigned int round1(unsigned int acc, unsigned int input)
{
    acc += input * PRIME2;
    acc = ROTL(acc, 13);
    return acc * PRIME1;
}

__global__ void xxhash_mix(const uint4 *data, unsigned int *hashes, unsigned int seed, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    uint4 v = data[i];
    unsigned int h = ROTL(round1(seed + PRIME1 + PRIME2, v.x), 1) + ROTL(round1(seed + PRIME2, v.y), 7)
                   + ROTL(round1(seed, v.z), 12) + ROTL(round1(seed - PRIME1, v.w), 18);
    h += 16;
    h ^= h >> 15;
    h *= PRIME2;
    h ^= h >> 13;
    h *= PRIME3;
    h ^= h >> 16;
    hashes[i] = h;
}
