/* Checks and data that the tests share. */
#ifndef PAGEPRESS_TEST_H
#define PAGEPRESS_TEST_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pagepress.h"

#define CHECK(condition)                                                                   \
  do {                                                                                     \
    if (!(condition)) {                                                                    \
      fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, #condition, pp_last_error()); \
      exit(1);                                                                             \
    }                                                                                      \
  } while (0)

#define CHECK_STATUS(call, expected)                                                                    \
  do {                                                                                                  \
    int status_ = (int)(call);                                                                          \
    if (status_ != (int)(expected)) {                                                                     \
      fprintf(stderr, "%s:%d: %s: status %d: %s\n", __FILE__, __LINE__, #call, status_, pp_last_error()); \
      exit(1);                                                                                          \
    }                                                                                                   \
  } while (0)

#define CHECK_OK(call) CHECK_STATUS(call, PP_OK)

/* Returns memory of exactly this size, so that AddressSanitizer sees each byte beyond it. */
static inline void *memory(size_t size) {
  void *at = malloc(size > 0 ? size : 1);
  CHECK(at != NULL);
  return at;
}

/* Fills memory with words that compress about twofold, and some pages of one word. */
static inline unsigned char *content(size_t size, uint32_t seed) {
  unsigned char *at = memory(size);
  uint32_t state = seed * 2654435761u + 1;
  for (size_t i = 0; i < size; i++) {
    if (i % 4 == 0) state = state * 1664525u + 1013904223u;
    int is_fill = i / 4096 % 5 == 3;
    at[i] = is_fill ? (unsigned char)7 : (unsigned char)((state >> 24) % 3 == 0 ? state >> 16 : i / 64);
  }
  return at;
}

void test_engine(const pp_context *context);
void test_frames(const pp_context *context);
void test_streams(const pp_context *context);
void test_blocks(void);
void test_device(void);
void test_pages(const pp_context *context);
void test_hostile(const pp_context *context);
void test_threads(const pp_context *context);

#endif
