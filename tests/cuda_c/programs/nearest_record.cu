// Distances of records on a map to a place; the host prints the nearest ones.
#include <stdio.h>
#include <float.h>
#include <vector>
#include <string>
#include "cuda.h"

#define smaller(a, b) a < b ? a : b
#define blocksFor(n, size) (n + size - 1) / size
#define show(x) printf(#x " is %lu\n", (unsigned long)x)
#define THREADS 256
#define NAME_LENGTH 40

typedef struct place
{
    float latitude;
    float longitude;
} Place;

typedef struct record
{
    char name[NAME_LENGTH];
    double distance;
} Record;

int readRecords(const char *filename, std::vector<Record> &records, std::vector<Place> &places);
void nearestFirst(std::vector<Record> &records, float *distances, int count, int shown);

/**
 * The straight distance of each place to the target, on a grid of two dimensions.
 */
__global__ void distances(Place *places, float *out, int count, float latitude, float longitude)
{
    int at = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x; // row by row
    Place *place = places + at;
    if (at < count) {
        float *target = out + at;
        float dy = latitude - place->latitude, dx = longitude - place->longitude;
        *target = (float)sqrt(dy * dy + dx * dx);
    }
}

int main(int argc, char *argv[])
{
    float latitude = 48.0, longitude = 11.5;
    int shown = 10;
    std::vector<Record> records;
    std::vector<Place> places;
    int count = readRecords(argv[1], records, places);
    shown = smaller(shown, count);

    cudaDeviceProp properties;
    cudaGetDeviceProperties(&properties, 0);
    unsigned long threads = smaller(properties.maxThreadsPerBlock, THREADS);
    unsigned long blocks = blocksFor(count, threads);
    dim3 grid(smaller(blocks, 65535ul), blocksFor(blocks, 65535ul));
    show(blocks);

    float *host = (float *)malloc(sizeof(float) * count), *out;
    Place *d_places;
    cudaMalloc((void **)&d_places, sizeof(Place) * count);
    cudaMalloc((void **)&out, sizeof(float) * count);
    cudaMemcpy(d_places, &places[0], sizeof(Place) * count, cudaMemcpyHostToDevice);
    distances<<<grid, threads>>>(d_places, out, count, latitude, longitude);
    cudaDeviceSynchronize();
    cudaMemcpy(host, out, sizeof(float) * count, cudaMemcpyDeviceToHost);
    nearestFirst(records, host, count, shown);
    for (int i = 0; i < shown; i++)
        printf("%s: %f\n", records[i].name, records[i].distance);
    free(host);
    cudaFree(d_places);
    cudaFree(out);
}
