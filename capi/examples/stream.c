/* Compresses or decompresses a file in parts: stream compress|decompress INPUT OUTPUT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pagepress.h"

#define PIECE ((size_t)1 << 20)

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, pp_last_error());
  return 1;
}

/* Writes a buffer of the library and frees it; returns 0 after success. */
static int pass_on(pp_buffer *buffer, FILE *output) {
  size_t size = pp_buffer_size(buffer);
  int failed = size > 0 && fwrite(pp_buffer_data(buffer), 1, size, output) != size;
  pp_buffer_free(buffer);
  if (failed) perror("write");
  return failed;
}

static int compress(FILE *input, FILE *output, char *piece) {
  pp_compressor *stream = NULL;
  pp_buffer *buffer = NULL;
  int failed = 0;
  /* A context in place of NULL chooses a GPU; options in place of NULL choose level, block size, checksums and an index. */
  if (pp_compressor_open(NULL, NULL, &stream) != PP_OK) return fail("open");
  for (size_t size = PIECE; !failed && size == PIECE;) {
    size = fread(piece, 1, PIECE, input);
    if (pp_compressor_write(stream, piece, size, &buffer) != PP_OK) failed = fail("compress");
    else failed = pass_on(buffer, output);
  }
  if (!failed && pp_compressor_finish(stream, &buffer) != PP_OK) failed = fail("finish");
  else if (!failed) failed = pass_on(buffer, output);
  pp_compressor_free(stream);
  return failed;
}

static int decompress(FILE *input, FILE *output, char *piece) {
  pp_decompressor *stream = NULL;
  pp_buffer *buffer = NULL;
  int failed = 0;
  if (pp_decompressor_open(NULL, NULL, UINT64_MAX, &stream) != PP_OK) return fail("open");
  for (size_t size = PIECE; !failed && size == PIECE;) {
    size = fread(piece, 1, PIECE, input);
    if (pp_decompressor_write(stream, piece, size, &buffer) != PP_OK) failed = fail("decompress");
    else failed = pass_on(buffer, output);
  }
  if (!failed && pp_decompressor_finish(stream) != PP_OK) failed = fail("finish");
  pp_decompressor_free(stream);
  return failed;
}

int main(int argc, char **argv) {
  if (argc != 4 || (strcmp(argv[1], "compress") != 0 && strcmp(argv[1], "decompress") != 0)) {
    fprintf(stderr, "usage: %s compress|decompress INPUT OUTPUT\n", argv[0]);
    return 2;
  }
  FILE *input = fopen(argv[2], "rb");
  FILE *output = fopen(argv[3], "wb");
  char *piece = malloc(PIECE);
  int failed = 1;
  if (input == NULL || output == NULL || piece == NULL) perror("open");
  else failed = strcmp(argv[1], "compress") == 0 ? compress(input, output, piece) : decompress(input, output, piece);
  free(piece);
  if (input != NULL && (ferror(input) || fclose(input) != 0)) failed = 1;
  if (output != NULL && fclose(output) != 0) failed = 1;
  return failed;
}
