/* Blocks, one by one and in batches. */
#include "test.h"

static void one_block(size_t size, uint32_t level, const pp_dictionary *dictionary) {
  unsigned char *bytes = content(size, 3);
  size_t bound = pp_compress_block_bound(size), written = 0;
  unsigned char *block = memory(bound), *back = memory(size);
  CHECK_OK(pp_compress_block(bytes, size, level, dictionary, block, bound, &written));
  CHECK(written > 0 && written <= bound);
  CHECK_OK(pp_decompress_block(block, written, dictionary, back, size));
  CHECK(memcmp(bytes, back, size) == 0);
  if (dictionary == NULL) {
    uint64_t found = 0;
    CHECK_OK(pp_block_content_size(block, written, &found));
    CHECK(found == size);
    if (size > 0) CHECK_STATUS(pp_decompress_block(block, written, NULL, back, size - 1), PP_CORRUPT_PAGE);
  }
  free(back);
  free(block);
  free(bytes);
}

enum { N = 50 };

static void batch(void) {
  void *sources[N], *blocks[N], *backs[N];
  size_t sizes[N], bounds[N], written[N], decoded[N];
  int32_t statuses[N];
  for (size_t i = 0; i < N; i++) {
    sizes[i] = i * 1777;
    bounds[i] = pp_compress_block_bound(sizes[i]);
    sources[i] = content(sizes[i], (uint32_t)i);
    blocks[i] = memory(bounds[i]);
    backs[i] = memory(sizes[i]);
  }
  CHECK_OK(pp_compress_blocks((const void *const *)sources, sizes, N, PP_LEVEL_AUTO, blocks, bounds, written, statuses));
  CHECK_OK(pp_decompress_blocks((const void *const *)blocks, written, N, backs, sizes, decoded, statuses));
  for (size_t i = 0; i < N; i++) {
    CHECK(statuses[i] == PP_OK && decoded[i] == sizes[i] && memcmp(sources[i], backs[i], sizes[i]) == 0);
  }
  /* A block that fails does not affect others. */
  memset(blocks[20], 0xff, written[20]);
  void *kept = backs[30];
  backs[30] = NULL;
  memset(backs[21], 0, sizes[21]);
  CHECK_STATUS(pp_decompress_blocks((const void *const *)blocks, written, N, backs, sizes, decoded, statuses), PP_CORRUPT_PAGE);
  CHECK(statuses[20] == PP_CORRUPT_PAGE && decoded[20] == 0);
  CHECK(statuses[30] == PP_INVALID_ARGUMENT && decoded[30] == 0);
  CHECK(statuses[21] == PP_OK && memcmp(sources[21], backs[21], sizes[21]) == 0);
  backs[30] = kept;
  CHECK_OK(pp_compress_blocks(NULL, NULL, 0, PP_LEVEL_AUTO, NULL, NULL, NULL, NULL));
  CHECK_STATUS(pp_compress_blocks(NULL, sizes, N, PP_LEVEL_AUTO, blocks, bounds, written, statuses), PP_INVALID_ARGUMENT);
  for (size_t i = 0; i < N; i++) free(sources[i]), free(blocks[i]), free(backs[i]);
}

void test_blocks(void) {
  const size_t sizes[] = {0, 1, 12, 13, 255, 270, 4096, 70000, 4194304};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    for (uint32_t level = PP_LEVEL_AUTO; level <= PP_LEVEL_SEQUENTIAL; level++) one_block(sizes[i], level, NULL);
  }
  one_block(4194305, PP_LEVEL_AUTO, NULL);
  pp_dictionary *dictionary = NULL;
  unsigned char *bytes = content(5000, 3);
  CHECK_OK(pp_dictionary_new(bytes, 5000, &dictionary));
  one_block(4000, PP_LEVEL_HIGH, dictionary);
  pp_dictionary_free(dictionary);
  free(bytes);
  batch();
}
