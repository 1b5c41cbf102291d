/* Tests the C interface: main cpu|wgpu|cuda. A GPU has one test, since a software GPU compiles each kernel for seconds. */
#include "test.h"

int main(int argc, char **argv) {
  const char *engine = argc > 1 ? argv[1] : "cpu";
  pp_context_options options;
  pp_context *context = NULL;
  CHECK(pp_version() == PP_VERSION);
  CHECK_OK(pp_context_options_init(&options));
  options.engine = PP_ENGINE_CPU;
  if (strcmp(engine, "wgpu") == 0) options.engine = PP_ENGINE_WGPU;
  if (strcmp(engine, "cuda") == 0) options.engine = PP_ENGINE_CUDA;
  options.allow_software = 1;
  CHECK_OK(pp_context_open(&options, &context));
  CHECK(strcmp(pp_context_engine(context), engine) == 0);
  CHECK(strlen(pp_context_reason(context)) > 0);
  test_engine(context);
  if (strcmp(engine, "cpu") == 0) {
    test_frames(context);
    test_frames(NULL);
    test_streams(context);
    test_threads(context);
    test_pages(context);
    test_pages(NULL);
    test_blocks();
    test_device();
    test_hostile(context);
  }
  pp_context_close(context);
  pp_context_close(NULL);
  printf("1 passed; 0 failed: C interface on %s\n", engine);
  return 0;
}
