/* Batches in device memory: arguments that no batch takes. With a GPU, capi/examples/device.c runs one. */
#include "test.h"

void test_device(void) {
  pp_batch *batch = (pp_batch *)1;
  size_t size = 1;
  CHECK(pp_batch_block_bound(0) == 16);
  CHECK(pp_batch_block_bound(65536) == 65536 + 257 + 16);
  CHECK(pp_batch_block_bound(65537) == 0 && pp_batch_block_bound(SIZE_MAX) == 0);
  CHECK(pp_batch_open(0, 4096, NULL) == PP_INVALID_ARGUMENT);
  /* No machine has so many GPUs, and most have none of CUDA. */
  CHECK(pp_batch_open(UINT32_MAX, 4096, &batch) == PP_BACKEND_UNAVAILABLE);
  CHECK(batch == NULL && strlen(pp_last_error()) > 0);
  CHECK(pp_batch_compress_scratch_size(NULL, 1, &size) == PP_INVALID_ARGUMENT);
  CHECK(pp_batch_decompress_scratch_size(NULL, 1, &size) == PP_INVALID_ARGUMENT);
  CHECK(pp_batch_compress_async(NULL, NULL, NULL, 1, NULL, 0, NULL, NULL, NULL) == PP_INVALID_ARGUMENT);
  CHECK(pp_batch_decompress_async(NULL, NULL, NULL, NULL, NULL, 1, NULL, 0, NULL, NULL, NULL) == PP_INVALID_ARGUMENT);
  pp_batch_close(NULL);
}
