/* Null pointers, sizes beyond memory, numbers outside enumerations, corrupt data. */
#include "test.h"

static void null_pointers(const pp_context *context) {
  size_t written = 5;
  uint64_t size = 0;
  unsigned char out[64];
  pp_buffer *buffer = NULL;
  CHECK_STATUS(pp_compress_frame(context, NULL, 10, NULL, out, 64, &written), PP_INVALID_ARGUMENT);
  CHECK(written == 0);
  CHECK_STATUS(pp_compress_frame(context, "a", 1, NULL, NULL, 64, &written), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_compress_frame(context, "a", 1, NULL, out, 64, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompress_frame(context, NULL, 1, NULL, out, 64, &written), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompress_frame_to_buffer(context, "a", 1, NULL, 1, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_frame_content_size("a", 1, NULL, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_compress_block(NULL, 1, PP_LEVEL_AUTO, NULL, out, 64, &written), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompress_block("a", 1, NULL, NULL, 1), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_block_content_size(NULL, 1, &size), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_frame_options_init(NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_context_options_init(NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_context_open(NULL, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_dictionary_new("a", 1, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_compressor_open(NULL, NULL, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_compressor_write(NULL, "a", 1, &buffer), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_compressor_finish(NULL, &buffer), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompressor_open(NULL, NULL, 1, NULL), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompressor_finish(NULL), PP_INVALID_ARGUMENT);
  CHECK(pp_buffer_data(NULL) == NULL && pp_buffer_size(NULL) == 0);
  CHECK(pp_context_engine(NULL) == NULL && pp_context_reason(NULL) == NULL);
  pp_buffer_free(NULL);
  pp_dictionary_free(NULL);
  pp_compressor_free(NULL);
  pp_decompressor_free(NULL);
}

static void sizes_and_numbers(const pp_context *context) {
  size_t written = 0;
  unsigned char out[64];
  CHECK_STATUS(pp_compress_frame(context, "a", SIZE_MAX, NULL, out, 64, &written), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompress_frame(context, "a", 1, NULL, out, SIZE_MAX / 2 + 1, &written), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_compress_pages(context, "a", 1, 4096, 1, out, 64, &written, (pp_page_entry *)(void *)8, SIZE_MAX), PP_INVALID_ARGUMENT);
  CHECK_STATUS(pp_decompress_pages(context, "a", 1, (pp_page_entry *)(void *)3, 1, 4096, out, 64, NULL), PP_INVALID_ARGUMENT);
  CHECK(pp_compress_frame_bound(SIZE_MAX) == 0 && pp_compress_block_bound(SIZE_MAX) == 0 && pp_compress_pages_bound(SIZE_MAX) == 0);
  const size_t samples[] = {SIZE_MAX, 2};
  pp_dictionary *dictionary = NULL;
  CHECK_STATUS(pp_dictionary_train("a", samples, 2, 100, &dictionary), PP_INVALID_ARGUMENT);
  pp_frame_options options;
  CHECK_OK(pp_frame_options_init(&options));
  options.level = 4;
  CHECK_STATUS(pp_compress_frame(context, "a", 1, &options, out, 64, &written), PP_INVALID_ARGUMENT);
  CHECK(strstr(pp_last_error(), "invalid level: 4") != NULL);
  CHECK_OK(pp_frame_options_init(&options));
  options.block_size = 100;
  CHECK_STATUS(pp_compress_frame(context, "a", 1, &options, out, 64, &written), PP_INVALID_ARGUMENT);
  memset(&options, 0xff, sizeof options);
  CHECK_STATUS(pp_compress_frame(context, "a", 1, &options, out, 64, &written), PP_INVALID_ARGUMENT);
  pp_context_options wrong;
  pp_context *none = NULL;
  CHECK_OK(pp_context_options_init(&wrong));
  wrong.engine = 9;
  CHECK_STATUS(pp_context_open(&wrong, &none), PP_INVALID_ARGUMENT);
  wrong.engine = PP_ENGINE_CUDA;
  wrong.adapter = 1000;
  CHECK_STATUS(pp_context_open(&wrong, &none), PP_BACKEND_UNAVAILABLE);
  CHECK(none == NULL);
  CHECK(strcmp(pp_status_text(PP_OK), "no error") == 0 && strcmp(pp_status_text(-5), "unknown status") == 0);
}

/* Decodes a frame and a block of which each byte was changed in turn: any status, and no byte outside of memory. */
static void corrupt(const pp_context *context) {
  const size_t size = 3000;
  unsigned char *bytes = content(size, 5), *back = memory(size);
  size_t bound = pp_compress_frame_bound(size), frame_size = 0, written = 0;
  unsigned char *frame = memory(bound);
  CHECK_OK(pp_compress_frame(context, bytes, size, NULL, frame, bound, &frame_size));
  for (size_t i = 0; i < frame_size; i++) {
    unsigned char *changed = memory(frame_size);
    memcpy(changed, frame, frame_size);
    changed[i] ^= (unsigned char)(1u << i % 8);
    pp_status status = pp_decompress_frame(context, changed, frame_size, NULL, back, size, &written);
    /* Another offset of a match may give the same content. */
    CHECK(status != PP_INTERNAL && (status != PP_OK || (written == size && memcmp(bytes, back, size) == 0)));
    pp_buffer *buffer = NULL;
    CHECK(pp_decompress_frame_to_buffer(context, changed, frame_size, NULL, 10 * size, &buffer) == status || buffer == NULL);
    pp_buffer_free(buffer);
    free(changed);
  }
  for (size_t n = 0; n < frame_size; n++) {
    unsigned char *cut = memory(n);
    memcpy(cut, frame, n);
    pp_status status = pp_decompress_frame(context, cut, n, NULL, back, size, &written);
    CHECK(status == PP_TRUNCATED_FRAME || status == PP_NOT_LZ4);
    free(cut);
  }
  unsigned char *block = memory(pp_compress_block_bound(size));
  CHECK_OK(pp_compress_block(bytes, size, PP_LEVEL_AUTO, NULL, block, pp_compress_block_bound(size), &written));
  for (size_t i = 0; i < written; i++) {
    uint64_t found = 0;
    block[i] ^= 0xff;
    pp_status status = pp_decompress_block(block, written, NULL, back, size);
    CHECK(status == PP_OK || status == PP_CORRUPT_PAGE);
    status = pp_block_content_size(block, written, &found);
    CHECK(status == PP_OK || status == PP_CORRUPT_PAGE);
    block[i] ^= 0xff;
  }
  CHECK_STATUS(pp_decompress_frame(context, "gzip?", 5, NULL, back, size, &written), PP_NOT_LZ4);
  free(block);
  free(frame);
  free(back);
  free(bytes);
}

void test_hostile(const pp_context *context) {
  null_pointers(context);
  sizes_and_numbers(context);
  corrupt(context);
}
