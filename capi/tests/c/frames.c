/* Frames in memory and in parts. */
#include "test.h"

static void round_trip(const pp_context *context, size_t size, const pp_frame_options *options) {
  unsigned char *bytes = content(size, 1);
  size_t bound = pp_compress_frame_bound(size), written = 99;
  unsigned char *frame = memory(bound), *back = memory(size);
  uint64_t stated = 0;
  const pp_dictionary *dictionary = options == NULL ? NULL : options->dictionary;
  CHECK(bound > size);
  CHECK_OK(pp_compress_frame(context, bytes, size, options, frame, bound, &written));
  CHECK(written > 0 && written <= bound);
  CHECK_OK(pp_frame_content_size(frame, written, dictionary, &stated));
  CHECK(stated == (options == NULL || options->content_size ? size : PP_CONTENT_SIZE_UNKNOWN));
  size_t frame_size = written;
  CHECK_OK(pp_decompress_frame(context, frame, frame_size, dictionary, back, size, &written));
  CHECK(written == size && memcmp(bytes, back, size) == 0);
  pp_buffer *buffer = NULL;
  CHECK_OK(pp_decompress_frame_to_buffer(context, frame, frame_size, dictionary, size, &buffer));
  CHECK(pp_buffer_size(buffer) == size);
  CHECK(size == 0 || memcmp(pp_buffer_data(buffer), bytes, size) == 0);
  pp_buffer_free(buffer);
  if (size > 0) {
    CHECK_STATUS(pp_decompress_frame(context, frame, frame_size, dictionary, back, size - 1, &written), PP_OUTPUT_LIMIT);
    CHECK(written == 0);
    CHECK_STATUS(pp_decompress_frame_to_buffer(context, frame, frame_size, dictionary, size - 1, &buffer), PP_OUTPUT_LIMIT);
    CHECK(buffer == NULL);
    CHECK_STATUS(pp_compress_frame(context, bytes, size, options, frame, frame_size - 1, &written), PP_OUTPUT_LIMIT);
    CHECK(written == 0);
  }
  free(back);
  free(frame);
  free(bytes);
}

void test_frames(const pp_context *context) {
  const size_t sizes[] = {0, 1, 12, 13, 4096, 65536, 65537, 1000003};
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) round_trip(context, sizes[i], NULL);
  pp_frame_options options;
  for (uint32_t level = PP_LEVEL_AUTO; level <= PP_LEVEL_SEQUENTIAL; level++) {
    CHECK_OK(pp_frame_options_init(&options));
    options.level = level;
    options.block_size = 4096;
    options.block_checksums = options.index = 1;
    options.content_size = level % 2;
    round_trip(context, 300000, &options);
  }
  pp_dictionary *dictionary = NULL;
  unsigned char *bytes = content(20000, 1);
  CHECK_OK(pp_dictionary_new(bytes, 20000, &dictionary));
  CHECK(pp_dictionary_id(dictionary) != 0 && pp_dictionary_id(NULL) == 0);
  options.dictionary = dictionary;
  round_trip(context, 30000, &options);
  pp_dictionary_free(dictionary);
  const size_t samples[] = {5000, 10000, 5000};
  CHECK_OK(pp_dictionary_train(bytes, samples, 3, 4096, &dictionary));
  options.dictionary = dictionary;
  round_trip(context, 30000, &options);
  pp_dictionary_free(dictionary);
  CHECK_STATUS(pp_dictionary_train(bytes, samples, 3, 0, &dictionary), PP_INVALID_ARGUMENT);
  CHECK(dictionary == NULL);
  free(bytes);
}

/* Appends a buffer of the library to memory. */
static void append(unsigned char *to, size_t *size, pp_buffer *buffer) {
  if (pp_buffer_size(buffer) > 0) memcpy(to + *size, pp_buffer_data(buffer), pp_buffer_size(buffer));
  *size += pp_buffer_size(buffer);
  pp_buffer_free(buffer);
}

void test_streams(const pp_context *context) {
  const size_t size = 700000, piece = 50000;
  unsigned char *bytes = content(size, 2);
  unsigned char *frame = memory(pp_compress_frame_bound(size)), *back = memory(size);
  size_t frame_size = 0, back_size = 0;
  pp_compressor *compressor = NULL;
  pp_buffer *buffer = NULL;
  CHECK_OK(pp_compressor_open(context, NULL, &compressor));
  for (size_t at = 0; at < size; at += piece) {
    CHECK_OK(pp_compressor_write(compressor, bytes + at, piece, &buffer));
    append(frame, &frame_size, buffer);
    if (at == 5 * piece) {
      CHECK_OK(pp_compressor_flush(compressor, &buffer));
      CHECK(pp_buffer_size(buffer) > 0);
      append(frame, &frame_size, buffer);
    }
  }
  CHECK_OK(pp_compressor_finish(compressor, &buffer));
  append(frame, &frame_size, buffer);
  CHECK_STATUS(pp_compressor_write(compressor, bytes, 1, &buffer), PP_INVALID_ARGUMENT);
  CHECK(buffer == NULL);
  pp_compressor_free(compressor);
  pp_decompressor *decompressor = NULL;
  CHECK_OK(pp_decompressor_open(context, NULL, UINT64_MAX, &decompressor));
  for (size_t at = 0; at < frame_size; at += 7001) {
    size_t rest = frame_size - at;
    CHECK_OK(pp_decompressor_write(decompressor, frame + at, rest < 7001 ? rest : 7001, &buffer));
    append(back, &back_size, buffer);
  }
  CHECK_OK(pp_decompressor_finish(decompressor));
  CHECK(back_size == size && memcmp(bytes, back, size) == 0);
  pp_decompressor_free(decompressor);
  CHECK_OK(pp_decompressor_open(context, NULL, UINT64_MAX, &decompressor));
  CHECK_OK(pp_decompressor_write(decompressor, frame, frame_size - 1, &buffer));
  pp_buffer_free(buffer);
  CHECK_STATUS(pp_decompressor_finish(decompressor), PP_TRUNCATED_FRAME);
  pp_decompressor_free(decompressor);
  free(back);
  free(frame);
  free(bytes);
}
