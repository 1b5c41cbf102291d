// Makes Mesa's drm-shim of V3D, which answers as a V3D 4.2 (Raspberry Pi 4), answer as a V3D 7.1 (Raspberry Pi 5). It is preloaded before the shim.
//
// The driver also wants what the shim lacks: submissions that wait for several others, and a node at an empty path, where it looks for a display.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ioctl.h>

/// Argument of the request DRM_IOCTL_V3D_GET_PARAM, whose type and number are REQUEST.
struct param {
  uint32_t name, pad;
  uint64_t value;
};
enum { REQUEST = 'd' << 8 | 0x44, HUB_IDENT3 = 3, CORE0_IDENT0 = 4, CORE0_IDENT1 = 5, SUPPORTS_MULTISYNC = 11 };

int ioctl(int fd, unsigned long request, ...) {
  static int (*shim)(int, unsigned long, ...);
  if (!shim) shim = dlsym(RTLD_NEXT, "ioctl");
  va_list list;
  va_start(list, request);
  struct param *param = va_arg(list, void *);
  va_end(list);
  if ((request & 0xffff) != REQUEST) return shim(fd, request, param);
  switch (param->name) {
  case HUB_IDENT3: // Revision 7.
    param->value = 0x000e0700;
    return 0;
  case CORE0_IDENT0: // Version 7.
    param->value = 0x07443356;
    return 0;
  case CORE0_IDENT1: // Version .1, 3 slices of 4 processors.
    param->value = 0x81001431;
    return 0;
  case SUPPORTS_MULTISYNC:
    param->value = 1;
    return 0;
  default:
    return shim(fd, request, param);
  }
}

int open(const char *path, int flags, ...) {
  static int (*shim)(const char *, int, ...);
  if (!shim) shim = dlsym(RTLD_NEXT, "open");
  va_list list;
  va_start(list, flags);
  const int mode = va_arg(list, int);
  va_end(list);
  return shim(*path ? path : "/dev/dri/renderD128", flags, mode);
}

int open64(const char *path, int flags, ...) __attribute__((alias("open")));
