// Preloaded: has whoever asks believe that every file is one of sysfs.
#include <linux/magic.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>
int fstatfs(int fd, struct statfs* out) {
  const int result = syscall(SYS_fstatfs, fd, out);
  out->f_type = SYSFS_MAGIC;
  return result;
}
