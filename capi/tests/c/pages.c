/* Batches of pages. */
#include "test.h"

static void round_trip(const pp_context *context, size_t size, uint32_t page_size, uint32_t level) {
  size_t n = pp_page_count(size, page_size), bound = pp_compress_pages_bound(size), written = 0;
  unsigned char *bytes = content(size, 4), *packed = memory(bound), *back = memory(size);
  pp_page_entry *entries = memory(n * sizeof *entries);
  uint32_t *errors = memory(n * sizeof *errors);
  CHECK_OK(pp_compress_pages(context, bytes, size, page_size, level, packed, bound, &written, entries, n));
  CHECK(written <= bound);
  CHECK_OK(pp_decompress_pages(context, packed, written, entries, n, page_size, back, size, NULL));
  CHECK(memcmp(bytes, back, size) == 0);
  if (n > 3) {
    CHECK(page_size != 4096 || entries[3].kind == PP_PAGE_FILL);
    entries[2].kind = 77;
    CHECK_STATUS(pp_decompress_pages(context, packed, written, entries, n, page_size, back, size, errors), PP_CORRUPT_PAGE);
    entries[2].kind = PP_PAGE_LZ4;
    entries[2].offset = written + 400;
    CHECK_STATUS(pp_decompress_pages(context, packed, written, entries, n, page_size, back, size, NULL), PP_CORRUPT_PAGE);
    CHECK_OK(pp_decompress_pages(context, packed, written, entries, n, page_size, back, size, errors));
    for (size_t i = 0; i < n; i++) CHECK((errors[i] != 0) == (i == 2));
    entries[2].offset = UINT64_MAX;
    CHECK_STATUS(pp_decompress_pages(context, packed, written, entries, n, page_size, back, size, NULL), PP_CORRUPT_PAGE);
    CHECK_STATUS(pp_compress_pages(context, bytes, size, page_size, level, packed, bound, &written, entries, n - 1),
                 PP_INVALID_ARGUMENT);
    CHECK_STATUS(pp_compress_pages(context, bytes, size, page_size, level, packed, 8, &written, entries, n), PP_OUTPUT_LIMIT);
    CHECK_STATUS(pp_decompress_pages(context, packed, bound, entries, n - 1, page_size, back, size, NULL), PP_INVALID_ARGUMENT);
  }
  free(errors);
  free(entries);
  free(back);
  free(packed);
  free(bytes);
}

void test_pages(const pp_context *context) {
  const uint32_t page_sizes[] = {4096, 8192, 16384, 32768, 65536};
  for (size_t i = 0; i < 5; i++) round_trip(context, 700001, page_sizes[i], PP_LEVEL_FAST);
  round_trip(context, 100000, 4096, PP_LEVEL_AUTO);
  round_trip(context, 100000, 4096, PP_LEVEL_HIGH);
  round_trip(context, 0, 4096, PP_LEVEL_FAST);
  round_trip(context, 5, 4096, PP_LEVEL_FAST);
  size_t written = 0;
  pp_page_entry entry;
  CHECK_STATUS(pp_compress_pages(context, "abc", 3, 5000, PP_LEVEL_FAST, &entry, 0, &written, &entry, 1), PP_INVALID_ARGUMENT);
  CHECK(pp_page_count(10, 0) == 0);
  CHECK_STATUS(pp_compress_pages(context, "abc", 3, 0, PP_LEVEL_FAST, NULL, 0, &written, &entry, 1), PP_INVALID_ARGUMENT);
}
