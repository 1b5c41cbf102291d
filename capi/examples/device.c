/*
 * Compresses a file in device memory, in chunks, on a CUDA stream, and decompresses it there: device FILE [CHUNK_SIZE]
 *
 * It loads NVIDIA's driver itself, so that it builds without the CUDA toolkit: cc device.c -lpagepress -ldl
 */
#include <dlfcn.h>
#include <pagepress.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The part of the driver's interface that is used here: declarations as in cuda.h. */
typedef unsigned long long address;
static int (*cuInit)(unsigned);
static int (*cuDevicePrimaryCtxRetain)(void **, int);
static int (*cuCtxSetCurrent)(void *);
static int (*cuMemAlloc)(address *, size_t);
static int (*cuMemcpyHtoDAsync)(address, const void *, size_t, void *);
static int (*cuMemcpyDtoHAsync)(void *, address, size_t, void *);
static int (*cuMemsetD8Async)(address, unsigned char, size_t, void *);
static int (*cuStreamCreate)(void **, unsigned);
static int (*cuStreamSynchronize)(void *);
static int (*cuEventCreate)(void **, unsigned);
static int (*cuEventRecord)(void *, void *);
static int (*cuEventSynchronize)(void *);
static int (*cuEventElapsedTime)(float *, void *, void *);

static void fail(const char *what) {
  fprintf(stderr, "device: %s\n", what);
  exit(1);
}

static void cuda(int code, const char *what) {
  if (code == 0) return;
  fprintf(stderr, "device: %s gave error %d of CUDA\n", what, code);
  exit(1);
}

static void ok(pp_status status) {
  if (status != PP_OK) fail(pp_last_error());
}

/* Finds a function. A pointer to an object is no pointer to a function in C, so its bytes are copied. */
static void find(void *driver, const char *name, void *function) {
  void *found = dlsym(driver, name);
  if (!found) fail(name);
  memcpy(function, &found, sizeof found);
}

static void load_driver(void) {
  void *driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) fail("no CUDA driver found: install the NVIDIA driver");
  find(driver, "cuInit", &cuInit);
  find(driver, "cuDevicePrimaryCtxRetain", &cuDevicePrimaryCtxRetain);
  find(driver, "cuCtxSetCurrent", &cuCtxSetCurrent);
  find(driver, "cuMemAlloc_v2", &cuMemAlloc);
  find(driver, "cuMemcpyHtoDAsync_v2", &cuMemcpyHtoDAsync);
  find(driver, "cuMemcpyDtoHAsync_v2", &cuMemcpyDtoHAsync);
  find(driver, "cuMemsetD8Async", &cuMemsetD8Async);
  find(driver, "cuStreamCreate", &cuStreamCreate);
  find(driver, "cuStreamSynchronize", &cuStreamSynchronize);
  find(driver, "cuEventCreate", &cuEventCreate);
  find(driver, "cuEventRecord", &cuEventRecord);
  find(driver, "cuEventSynchronize", &cuEventSynchronize);
  find(driver, "cuEventElapsedTime", &cuEventElapsedTime);
}

static void *memory(size_t size) {
  void *found = malloc(size ? size : 1);
  if (!found) fail("out of memory");
  return found;
}

static address device_memory(size_t size) {
  address found = 0;
  cuda(cuMemAlloc(&found, size ? size : 1), "cuMemAlloc");
  return found;
}

static address upload(const void *from, size_t size, void *stream) {
  address to = device_memory(size);
  cuda(cuMemcpyHtoDAsync(to, from, size, stream), "cuMemcpyHtoDAsync");
  cuda(cuStreamSynchronize(stream), "cuStreamSynchronize");
  return to;
}

static void *download(address from, size_t size, void *stream) {
  void *to = memory(size);
  cuda(cuMemcpyDtoHAsync(to, from, size, stream), "cuMemcpyDtoHAsync");
  cuda(cuStreamSynchronize(stream), "cuStreamSynchronize");
  return to;
}

/* Uploads the addresses of n pieces, `stride` bytes apart. */
static address addresses(address first, size_t stride, size_t n, void *stream) {
  address *all = memory(n * sizeof *all), found;
  for (size_t i = 0; i < n; i++) all[i] = first + i * stride;
  found = upload(all, n * sizeof *all, stream);
  free(all);
  return found;
}

static unsigned char *read_file(const char *path, size_t *size) {
  FILE *file = fopen(path, "rb");
  if (!file) fail("cannot open the file");
  if (fseek(file, 0, SEEK_END) != 0) fail("cannot read the file");
  *size = (size_t)ftell(file);
  rewind(file);
  unsigned char *bytes = memory(*size);
  if (fread(bytes, 1, *size, file) != *size) fail("cannot read the file");
  fclose(file);
  return bytes;
}

int main(int argc, char **argv) {
  if (argc < 2) fail("usage: device FILE [CHUNK_SIZE]");
  size_t chunk = argc > 2 ? strtoul(argv[2], NULL, 10) : 65536, size = 0, for_compression = 0, for_decompression = 0, packed = 0;
  unsigned char *bytes = read_file(argv[1], &size);
  if (size == 0 || chunk == 0) fail("an empty file, or chunks of no bytes");
  void *context = NULL, *stream = NULL, *events[3];
  float compress_ms = 0, decompress_ms = 0;
  load_driver();
  cuda(cuInit(0), "cuInit");
  cuda(cuDevicePrimaryCtxRetain(&context, 0), "cuDevicePrimaryCtxRetain");
  cuda(cuCtxSetCurrent(context), "cuCtxSetCurrent");
  cuda(cuStreamCreate(&stream, 1), "cuStreamCreate");
  for (int i = 0; i < 3; i++) cuda(cuEventCreate(&events[i], 0), "cuEventCreate");

  pp_batch *batch = NULL;
  ok(pp_batch_open(0, chunk, &batch));
  size_t n = (size + chunk - 1) / chunk, room = pp_batch_block_bound(chunk);
  ok(pp_batch_compress_scratch_size(batch, n, &for_compression));
  ok(pp_batch_decompress_scratch_size(batch, n, &for_decompression));
  size_t scratch_size = for_compression > for_decompression ? for_compression : for_decompression;

  size_t *lengths = memory(n * sizeof *lengths);
  for (size_t i = 0; i < n; i++) lengths[i] = i + 1 < n ? chunk : size - i * chunk;
  address content = upload(bytes, size, stream), blocks = device_memory(n * room), scratch = device_memory(scratch_size);
  address chunk_at = addresses(content, chunk, n, stream), block_at = addresses(blocks, room, n, stream);
  address chunk_sizes = upload(lengths, n * sizeof *lengths, stream), block_sizes = device_memory(n * sizeof(size_t));
  address found_sizes = device_memory(n * sizeof(size_t)), statuses = device_memory(n * sizeof(uint32_t));

  /* The first run is a warm-up. All calls return at once; the stream orders them. */
  for (int run = 0; run < 2; run++) {
    cuda(cuEventRecord(events[0], stream), "cuEventRecord");
    ok(pp_batch_compress_async(batch, (const void *const *)chunk_at, (const size_t *)chunk_sizes, n, (void *)scratch, scratch_size,
                               (void *const *)block_at, (size_t *)block_sizes, stream));
    cuda(cuEventRecord(events[1], stream), "cuEventRecord");
    cuda(cuMemsetD8Async(content, 0, size, stream), "cuMemsetD8Async");
    ok(pp_batch_decompress_async(batch, (const void *const *)block_at, (const size_t *)block_sizes, (const size_t *)chunk_sizes,
                                 (size_t *)found_sizes, n, (void *)scratch, scratch_size, (void *const *)chunk_at, (uint32_t *)statuses,
                                 stream));
    cuda(cuEventRecord(events[2], stream), "cuEventRecord");
    cuda(cuEventSynchronize(events[2]), "cuEventSynchronize");
  }
  cuda(cuEventElapsedTime(&compress_ms, events[0], events[1]), "cuEventElapsedTime");
  cuda(cuEventElapsedTime(&decompress_ms, events[1], events[2]), "cuEventElapsedTime");

  size_t *sizes = download(block_sizes, n * sizeof *sizes, stream), *found = download(found_sizes, n * sizeof *found, stream);
  uint32_t *codes = download(statuses, n * sizeof *codes, stream);
  unsigned char *back = download(content, size, stream);
  for (size_t i = 0; i < n; i++) {
    packed += sizes[i];
    if (codes[i] != PP_BLOCK_OK || found[i] != lengths[i]) fail("a block did not decompress");
  }
  if (memcmp(back, bytes, size) != 0) fail("other bytes came back");
  /* Any decoder reads the blocks: this is the one of the CPU. */
  unsigned char *last = download(blocks + (n - 1) * room, sizes[n - 1], stream), *by_cpu = memory(lengths[n - 1]);

  ok(pp_decompress_block(last, sizes[n - 1], NULL, by_cpu, lengths[n - 1]));
  if (memcmp(by_cpu, bytes + (n - 1) * chunk, lengths[n - 1]) != 0) fail("the CPU reads other bytes");
  printf("%zu chunks, %zu to %zu bytes, %.1f GB/s to compress, %.1f to decompress\n", n, size, packed, size / compress_ms / 1e6,
         size / decompress_ms / 1e6);
  pp_batch_close(batch);
  free(by_cpu);
  free(last);
  free(back);
  free(codes);
  free(found);
  free(sizes);
  free(lengths);
  free(bytes);
  return 0;
}
