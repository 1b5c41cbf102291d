/* A context on any engine writes the bytes of the CPU, in a frame and in pages, and reads them. */
#include "test.h"

enum { SIZE = 300001, PAGE = 4096 };

static void frames(const pp_context *context, const unsigned char *bytes) {
  pp_frame_options options;
  size_t bound = pp_compress_frame_bound(SIZE), by_engine = 0, by_cpu = 0, written = 0;
  unsigned char *frame = memory(bound), *same = memory(bound), *back = memory(SIZE);
  CHECK_OK(pp_frame_options_init(&options));
  options.level = PP_LEVEL_FAST;
  options.block_size = PAGE;
  CHECK_OK(pp_compress_frame(context, bytes, SIZE, &options, frame, bound, &by_engine));
  CHECK_OK(pp_compress_frame(NULL, bytes, SIZE, &options, same, bound, &by_cpu));
  CHECK(by_engine == by_cpu && memcmp(frame, same, by_cpu) == 0);
  CHECK_OK(pp_decompress_frame(context, frame, by_engine, NULL, back, SIZE, &written));
  CHECK(written == SIZE && memcmp(bytes, back, SIZE) == 0);
  frame[by_engine / 2] ^= 0xff;
  CHECK(pp_decompress_frame(context, frame, by_engine, NULL, back, SIZE, &written) != PP_OK);
  free(back);
  free(same);
  free(frame);
}

static void pages(const pp_context *context, const unsigned char *bytes) {
  size_t n = pp_page_count(SIZE, PAGE), bound = pp_compress_pages_bound(SIZE), by_engine = 0, by_cpu = 0;
  unsigned char *packed = memory(bound), *same = memory(bound), *back = memory(SIZE);
  pp_page_entry *entries = memory(n * sizeof *entries), *as_cpu = memory(n * sizeof *entries);
  uint32_t *errors = memory(n * sizeof *errors);
  CHECK_OK(pp_compress_pages(context, bytes, SIZE, PAGE, PP_LEVEL_FAST, packed, bound, &by_engine, entries, n));
  CHECK_OK(pp_compress_pages(NULL, bytes, SIZE, PAGE, PP_LEVEL_FAST, same, bound, &by_cpu, as_cpu, n));
  CHECK(by_engine == by_cpu && memcmp(packed, same, by_cpu) == 0 && memcmp(entries, as_cpu, n * sizeof *entries) == 0);
  CHECK_OK(pp_decompress_pages(context, packed, by_engine, entries, n, PAGE, back, SIZE, NULL));
  CHECK(memcmp(bytes, back, SIZE) == 0);
  entries[2].offset = by_engine + 400;
  CHECK_OK(pp_decompress_pages(context, packed, by_engine, entries, n, PAGE, back, SIZE, errors));
  for (size_t i = 0; i < n; i++) CHECK((errors[i] != 0) == (i == 2));
  free(errors);
  free(as_cpu);
  free(entries);
  free(back);
  free(same);
  free(packed);
}

void test_engine(const pp_context *context) {
  unsigned char *bytes = content(SIZE, 6);
  frames(context, bytes);
  pages(context, bytes);
  free(bytes);
}
