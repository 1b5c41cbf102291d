/* One context, and messages, from several threads. */
#include <pthread.h>

#include "test.h"

enum { THREADS = 4, ROUNDS = 10 };

typedef struct {
  const pp_context *context;
  uint32_t number;
} thread_data;

static void *run(void *argument) {
  const thread_data *data = argument;
  const size_t size = 100000;
  unsigned char *bytes = content(size, 100 + data->number), *back = memory(size);
  size_t bound = pp_compress_frame_bound(size), frame_size = 0, written = 0;
  unsigned char *frame = memory(bound);
  char expected[64];
  snprintf(expected, sizeof expected, "invalid level: %u;", (unsigned)(100 + data->number));
  pp_frame_options wrong;
  CHECK_OK(pp_frame_options_init(&wrong));
  wrong.level = 100 + data->number;
  for (int round = 0; round < ROUNDS; round++) {
    CHECK_OK(pp_compress_frame(data->context, bytes, size, NULL, frame, bound, &frame_size));
    CHECK_STATUS(pp_compress_frame(data->context, bytes, size, &wrong, frame, bound, &written), PP_INVALID_ARGUMENT);
    CHECK_OK(pp_decompress_frame(data->context, frame, frame_size, NULL, back, size, &written));
    CHECK(written == size && memcmp(bytes, back, size) == 0);
    /* The message is that of this thread. */
    CHECK(strstr(pp_last_error(), expected) != NULL);
  }
  free(frame);
  free(back);
  free(bytes);
  return NULL;
}

void test_threads(const pp_context *context) {
  pthread_t threads[THREADS];
  thread_data data[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    data[i] = (thread_data){context, i};
    CHECK(pthread_create(&threads[i], NULL, run, &data[i]) == 0);
  }
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
}
