// Times NVIDIA's nvCOMP LZ4 on pages that stay in GPU memory, verified, as `pagepress bench --resident` times ours.
//
//   nvcomp PAGE_SIZE MIB FILE...
//
// A file is repeated to MIB. Prints one JSON object a line. README.md beside this says how to build it.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_runtime.h>
#include <nvcomp/lz4.h>

namespace {

constexpr int kWarmUps = 3;
constexpr int kRuns = 5;
// The ratio counts what finding a block takes, as ours does.
constexpr size_t kTableEntryBytes = 8;

void check(cudaError_t error, const char *what) {
  if (error == cudaSuccess) return;
  fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  exit(1);
}

void check(nvcompStatus_t status, const char *what) {
  if (status == nvcompSuccess) return;
  fprintf(stderr, "%s: nvCOMP status %d\n", what, static_cast<int>(status));
  exit(1);
}

template <typename T> T *allocate(size_t count) {
  void *pointer = nullptr;
  check(cudaMalloc(&pointer, count * sizeof(T)), "cudaMalloc");
  return static_cast<T *>(pointer);
}

template <typename T> T *upload(const std::vector<T> &values) {
  T *device = allocate<T>(values.size());
  check(cudaMemcpy(device, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice), "upload");
  return device;
}

template <typename T> std::vector<T> download(const T *device, size_t count) {
  std::vector<T> values(count);
  check(cudaMemcpy(values.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost), "download");
  return values;
}

// Device addresses of `count` pieces, `stride` bytes apart.
void **addresses(char *first, size_t stride, size_t count) {
  std::vector<void *> pointers(count);
  for (size_t i = 0; i < count; i++) pointers[i] = first + i * stride;
  return upload(pointers);
}

// Median time of `work` in milliseconds, by the device's clock.
template <typename Work> double time(Work work) {
  cudaEvent_t begin, end;
  check(cudaEventCreate(&begin), "event");
  check(cudaEventCreate(&end), "event");
  std::vector<float> times;
  for (int i = 0; i < kWarmUps + kRuns; i++) {
    check(cudaEventRecord(begin), "record");
    work();
    check(cudaEventRecord(end), "record");
    check(cudaEventSynchronize(end), "synchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "elapsed");
    if (i >= kWarmUps) times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

std::vector<char> read(const char *path) {
  FILE *file = fopen(path, "rb");
  if (!file) {
    perror(path);
    exit(1);
  }
  std::vector<char> bytes;
  char piece[1 << 16];
  while (size_t n = fread(piece, 1, sizeof piece, file)) bytes.insert(bytes.end(), piece, piece + n);
  fclose(file);
  return bytes;
}

void bench(const char *path, size_t page, size_t at_least) {
  std::vector<char> content = read(path);
  content.resize(content.size() / page * page);
  if (content.empty()) {
    fprintf(stderr, "%s: less than a page\n", path);
    exit(1);
  }
  const size_t copies = std::max<size_t>(1, (at_least + content.size() - 1) / content.size());
  const size_t n_bytes = copies * content.size(), n_pages = n_bytes / page;
  char *pages = allocate<char>(n_bytes), *back = allocate<char>(n_bytes);
  for (size_t i = 0; i < copies; i++) {
    check(cudaMemcpy(pages + i * content.size(), content.data(), content.size(), cudaMemcpyHostToDevice), "fill");
  }
  const auto compress_options = nvcompBatchedLZ4CompressDefaultOpts;
  const auto decompress_options = nvcompBatchedLZ4DecompressDefaultOpts;
  size_t compress_temp, decompress_temp, stride;
  check(nvcompBatchedLZ4CompressGetTempSize(n_pages, page, compress_options, &compress_temp, n_bytes, 0), "size");
  check(nvcompBatchedLZ4DecompressGetTempSize(n_pages, page, decompress_options, &decompress_temp, n_bytes, 0), "size");
  check(nvcompBatchedLZ4CompressGetMaxOutputChunkSize(page, compress_options, &stride), "size");
  stride = (stride + 15) / 16 * 16;
  char *blocks = allocate<char>(stride * n_pages);
  char *temp = allocate<char>(std::max(compress_temp, decompress_temp) + 256);
  void **page_at = addresses(pages, page, n_pages), **back_at = addresses(back, page, n_pages);
  void **block_at = addresses(blocks, stride, n_pages);
  size_t *page_sizes = upload(std::vector<size_t>(n_pages, page));
  size_t *block_sizes = allocate<size_t>(n_pages), *back_sizes = allocate<size_t>(n_pages);
  nvcompStatus_t *status = allocate<nvcompStatus_t>(n_pages);

  const double compress_ms = time([&] {
    check(nvcompBatchedLZ4CompressAsync(page_at, page_sizes, page, n_pages, temp, compress_temp, block_at, block_sizes,
                                        compress_options, status, 0), "compress");
  });
  const double decompress_ms = time([&] {
    check(nvcompBatchedLZ4DecompressAsync(block_at, block_sizes, page_sizes, back_sizes, n_pages, temp,
                                          decompress_temp, back_at, decompress_options, status, 0), "decompress");
  });
  bool verified = true;
  for (size_t i = 0; i < copies; i++) {
    verified &= download(back + i * content.size(), content.size()) == content;
  }
  size_t packed = n_pages * kTableEntryBytes;
  for (size_t size : download(block_sizes, n_pages)) packed += size;
  const char *slash = strrchr(path, '/');
  printf("{\"file\":\"%s\",\"engine\":\"nvcomp\",\"page_size\":%zu,\"n_bytes\":%zu,\"ratio\":%.3f,"
         "\"compress_gbps\":%.1f,\"decompress_gbps\":%.1f,\"runs\":%d,\"verified\":%s}\n",
         slash ? slash + 1 : path, page, n_bytes, double(n_bytes) / packed, n_bytes / compress_ms / 1e6,
         n_bytes / decompress_ms / 1e6, kRuns, verified ? "true" : "false");
  for (void *memory : {(void *)pages, (void *)back, (void *)blocks, (void *)temp, (void *)page_at, (void *)back_at,
                       (void *)block_at, (void *)page_sizes, (void *)block_sizes, (void *)back_sizes, (void *)status}) {
    check(cudaFree(memory), "free");
  }
  if (!verified) exit(1);
}

} // namespace

int main(int argc, char **argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: %s PAGE_SIZE MIB FILE...\n", argv[0]);
    return 2;
  }
  for (int i = 3; i < argc; i++) bench(argv[i], strtoull(argv[1], nullptr, 10), strtoull(argv[2], nullptr, 10) << 20);
  return 0;
}
