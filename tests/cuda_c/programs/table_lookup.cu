// Random lookups in a sorted table: a generator, a binary search, an interpolation.
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MULTIPLIER 1664525u
#define INCREMENT 1013904223u

typedef struct {
    float key;
    float red;
    float green;
    float blue;
} Sample;

typedef struct {
    long n_tables;
    long n_samples;
    int lookups;
    char *name;
} Settings;

__device__ static float uniform(uint32_t *seed)
{
    *seed = MULTIPLIER * (*seed) + INCREMENT;
    return (float)(*seed >> 8) / 16777216.0f;
}

__device__ static int material(uint32_t *seed)
{
    const float shares[4] = {0.125f, 0.25f, 0.5f, 0.125f};
    float roll = uniform(seed), below = 0;
    for (int i = 0; i < 4; i++) {
        below += shares[i];
        if (roll < below) return i;
    }
    return -1;
}

/* Index of the last sample whose key is not greater. */
__device__ int search(int n, float key, const Sample *samples)
{
    int low = 0, high = n - 1;
    while (high - low > 1) {
        int middle = low + (high - low) / 2;
        if (samples[middle].key > key)
            high = middle;
        else
            low = middle;
    }
    return low;
}

__device__ void interpolate(float key, int n, const Sample *samples, float *channels)
{
    const Sample *low = &samples[search(n, key, samples)];
    const Sample *high = low + 1;
    float f = (key - low->key) / (high->key - low->key);
    channels[0] = low->red + f * (high->red - low->red);
    channels[1] = low->green + f * (high->green - low->green);
    channels[2] = low->blue + f * (high->blue - low->blue);
}

__global__ void lookup(int lookups, int n_samples, const Sample *__restrict__ samples, float *results, int *materials)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= lookups) return;

    uint32_t seed = 42u + i * 7919u;
    float key = uniform(&seed);
    materials[i] = material(&seed);
    float channels[3] = {0};
    interpolate(key, n_samples, samples, channels);

    float greatest = -1.0f;
    for (int c = 0; c < 3; c++) {
        if (channels[c] > greatest) {
            greatest = channels[c];
        }
    }
    results[i] = greatest;
}

static Settings read_arguments(int argc, char *argv[])
{
    Settings settings = {68, 11303, 17000000, (char *)"random"};
    for (int i = 1; i < argc; i++) {
        char *arg = argv[i];
        switch (arg[0]) {
            case '-': settings.lookups = atoi(argv[++i]); break;
            default: fprintf(stderr, "unknown: '%c' \"{\"\n", arg[0]); exit(2);
        }
    }
    return settings;
}

int main(int argc, char *argv[])
{
    Settings in = read_arguments(argc, argv);
    Sample *samples;
    float *results;
    int *materials;
    assert(cudaMalloc((void **)&samples, in.n_samples * sizeof(Sample)) == cudaSuccess);
    cudaMalloc((void **)&results, in.lookups * sizeof(float));
    cudaMalloc((void **)&materials, in.lookups * sizeof(int));
    int threads = 256;
    int blocks = ceil((double)in.lookups / (double)threads);
    lookup<<<blocks, threads>>>(in.lookups, (int)in.n_samples, samples, results, materials);
    cudaDeviceSynchronize();
    printf("%" PRId64 " lookups\n", (int64_t)in.lookups);
    cudaFree(samples);
    return 0;
}
