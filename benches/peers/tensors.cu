// Times what NVIDIA's libraries do with f32 tensors in GPU memory, as the example `tensor_bench` times ours: products of
// matrices by cuBLAS, copies by the driver.
//
// Prints one JSON object a line. README.md beside this says how to build it.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <cublas_v2.h>
#include <cuda_runtime.h>

namespace {

constexpr int kRuns = 5;
constexpr double kWarmUpSeconds = 0.7;
constexpr size_t kCopyElements = size_t{1} << 26;

void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

void check(cublasStatus_t status, const char *what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  fprintf(stderr, "%s: cuBLAS status %d\n", what, static_cast<int>(status));
  exit(1);
}

float *allocate(size_t count) {
  void *pointer = nullptr;
  check(cudaMalloc(&pointer, count * sizeof(float)), "cudaMalloc");
  return static_cast<float *>(pointer);
}

// Numbers from -1 to 1, on the device.
float *upload_noise(size_t count, unsigned seed) {
  std::vector<float> values(count);
  unsigned state = seed;
  for (float &value : values) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / static_cast<float>(1 << 23) - 1.0f;
  }
  float *device = allocate(count);
  check(cudaMemcpy(device, values.data(), count * sizeof(float), cudaMemcpyHostToDevice), "upload");
  return device;
}

// Median milliseconds of one of `times` runs of `work` in a row, by the device's clock; after some that do not count,
// since clocks rise with load.
template <typename Work> double median_ms(int times, Work work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<double> found;
  const auto start = std::chrono::steady_clock::now();
  while (found.size() < kRuns) {
    check(cudaEventRecord(begin), "record");
    for (int i = 0; i < times; i++) work();
    check(cudaEventRecord(end), "record");
    check(cudaEventSynchronize(end), "synchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    if (passed.count() > kWarmUpSeconds) found.push_back(ms / times);
  }
  std::sort(found.begin(), found.end());
  check(cudaEventDestroy(begin), "event");
  check(cudaEventDestroy(end), "event");
  return found[kRuns / 2];
}

// The largest difference of some elements from what the host computes in 64 bits. Matrices are column-major.
double largest_error(const float *a, const float *b, const float *c, size_t n) {
  std::vector<float> row(n), column(n);
  double largest = 0;
  for (size_t i = 0; i < 16; i++) {
    const size_t at_row = i * 37 % n, at_column = i * 101 % n;
    check(cudaMemcpy2D(row.data(), sizeof(float), a + at_row, n * sizeof(float), sizeof(float), n, cudaMemcpyDeviceToHost), "row");
    check(cudaMemcpy(column.data(), b + at_column * n, n * sizeof(float), cudaMemcpyDeviceToHost), "column");
    double sum = 0;
    for (size_t k = 0; k < n; k++) sum += static_cast<double>(row[k]) * column[k];
    float found = 0;
    check(cudaMemcpy(&found, c + at_column * n + at_row, sizeof(float), cudaMemcpyDeviceToHost), "element");
    largest = std::max(largest, std::abs(found - sum));
  }
  return largest;
}

void time_matmul(cublasHandle_t blas, int n) {
  const size_t count = static_cast<size_t>(n) * n;
  float *a = upload_noise(count, 1), *b = upload_noise(count, 2), *c = allocate(count);
  const float one = 1, zero = 0;
  const auto multiply = [&] {
    check(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, b, n, &zero, c, n), "cublasSgemm");
  };
  multiply();
  check(cudaDeviceSynchronize(), "synchronize");
  const double error = largest_error(a, b, c, n);
  if (!(error < 1e-3 * n)) {
    fprintf(stderr, "cublasSgemm of %d is wrong by %g\n", n, error);
    exit(1);
  }
  const double ms = median_ms(n < 2048 ? 20 : 3, multiply);
  printf("{\"peer\":\"cuBLAS\",\"operation\":\"matmul\",\"n\":%d,\"ms\":%.4f,\"tflops\":%.2f,\"error\":%.2e}\n", n, ms,
         2.0 * n * n * n / ms / 1e9, error);
  for (float *pointer : {a, b, c}) check(cudaFree(pointer), "cudaFree");
}

void time_copy() {
  float *from = upload_noise(kCopyElements, 3), *to = allocate(kCopyElements);
  const size_t bytes = kCopyElements * sizeof(float);
  const double ms = median_ms(20, [&] { check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice), "copy"); });
  printf("{\"peer\":\"CUDA\",\"operation\":\"copy\",\"n\":%zu,\"ms\":%.4f,\"gbps\":%.0f}\n", kCopyElements, ms, 2.0 * bytes / ms / 1e6);
}

} // namespace

int main() {
  cublasHandle_t blas;
  check(cublasCreate(&blas), "cublasCreate");
  // 32 bits all the way: no TF32.
  check(cublasSetMathMode(blas, CUBLAS_PEDANTIC_MATH), "cublasSetMathMode");
  for (int n : {512, 1024, 2048, 4096, 8192}) time_matmul(blas, n);
  check(cublasDestroy(blas), "cublasDestroy");
  time_copy();
}
