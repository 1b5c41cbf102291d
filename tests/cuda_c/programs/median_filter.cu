// Median filter of a grey image as a benchmark: a timing loop, templates over the radius.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda.h>

#define AT(x, y, w) ((y) * (w) + (x))

template<int R>
__global__ void median(
    const float *__restrict__ image,
    float *__restrict__ filtered,
    const int w,
    const int h)
{
  const int x = blockIdx.x*blockDim.x + threadIdx.x;
  const int y = blockIdx.y*blockDim.y + threadIdx.y;
  if(x >= w || y >= h) return;

  constexpr int SIDE = 2*R + 1;
  float sorted[SIDE*SIDE];
  int count = 0;
  for(int dy = -R; dy <= R; dy++) {
    for(int dx = -R; dx <= R; dx++) {
      // mirror at the borders
      int sx = abs(x + dx), sy = abs(y + dy);
      if(sx >= w) sx = 2*w - 2 - sx;
      if(sy >= h) sy = 2*h - 2 - sy;

      float value = image[AT(sx, sy, w)];
      int slot = count++;
      while(slot > 0 && sorted[slot - 1] > value) {
        sorted[slot] = sorted[slot - 1];
        --slot;
      }
      sorted[slot] = value;
    }
  }
  filtered[AT(x, y, w)] = sorted[count/2];
}

template <int R>
double measure(const std::vector<float> &image, std::vector<float> &result, int w, int h, int repeat)
{
  float *d_image, *d_result;
  const size_t bytes = sizeof(float) * image.size();
  cudaMalloc((void**)&d_image, bytes);
  cudaMalloc((void**)&d_result, bytes);
  cudaMemcpy(d_image, image.data(), bytes, cudaMemcpyHostToDevice);
  dim3 threads (16, 16);
  dim3 blocks ((w+15)/16, (h+15)/16);
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++)
    median<R><<<blocks, threads>>>(d_image, d_result, w, h);
  cudaDeviceSynchronize();
  auto end = std::chrono::steady_clock::now();
  auto time = std::chrono::duration_cast<std::chrono::nanoseconds>(end - start).count();
  cudaMemcpy(result.data(), d_result, bytes, cudaMemcpyDeviceToHost);
  cudaFree(d_image);
  cudaFree(d_result);
  return time * 1e-9 / repeat;
}

int main(int argc, char *argv[]) {
  if (argc != 4) {
    printf("Usage: %s <width> <height> <repeat>\n", argv[0]);
    return 1;
  }
  const int w = atoi(argv[1]), h = atoi(argv[2]), repeat = atoi(argv[3]);
  std::vector<float> image(w * h), result(w * h);
  srand(7);
  for (auto &v : image) v = rand() % 256;
  printf("3x3: %f s\n", measure<1>(image, result, w, h, repeat));
  printf("5x5: %f s\n", measure<2>(image, result, w, h, repeat));
  return 0;
}
