// Preloaded: reads of the file $HANG_FILE hang, as a driver can, once $HANG_WHEN is there.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void hang_if_named(int fd) {
  char link[64], target[4096];
  const char* name = getenv("HANG_FILE");
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t n = name ? readlink(link, target, sizeof(target) - 1) : -1;
  if (n < 0) return;
  target[n] = 0;
  const char* go = getenv("HANG_WHEN");
  if (strstr(target, name) && access(go, F_OK) == 0) for (;;) pause();
}
ssize_t pread(int fd, void* buffer, size_t size, off_t offset) {
  static ssize_t (*real)(int, void*, size_t, off_t);
  if (!real) real = dlsym(RTLD_NEXT, "pread");
  hang_if_named(fd);
  return real(fd, buffer, size, offset);
}
ssize_t pread64(int fd, void* buffer, size_t size, off_t offset) {
  return pread(fd, buffer, size, offset);
}
ssize_t read(int fd, void* buffer, size_t size) {
  static ssize_t (*real)(int, void*, size_t);
  if (!real) real = dlsym(RTLD_NEXT, "read");
  hang_if_named(fd);
  return real(fd, buffer, size);
}
