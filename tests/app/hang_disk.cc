// Preloaded into a program, a disk that stops answering: what touches a file below $HANG_DIR waits
// for as long as $HANG_FLAG.KIND exists, KIND being `sync`, `rename`, or `all` of reading and
// writing.
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <array>
#include <cstdarg>
#include <cstdlib>
#include <fstream>
#include <string>

namespace {

bool IsBelow(const char* path) {
  const char* const directory = std::getenv("HANG_DIR");
  return directory != nullptr && path != nullptr && std::string(path).rfind(directory, 0) == 0;
}

bool IsBelow(int fd) {
  std::array<char, 4096> path{};
  const std::string link = "/proc/self/fd/" + std::to_string(fd);
  return ::readlink(link.c_str(), path.data(), path.size() - 1) > 0 && IsBelow(path.data());
}

void WaitWhile(const char* kind) {
  const char* const flag = std::getenv("HANG_FLAG");
  struct stat status {};
  while (flag != nullptr && ::stat((std::string(flag) + "." + kind).c_str(), &status) == 0) {
    ::usleep(1000);
  }
}

template <typename Function>
Function* Next(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

/// A byte each in $HANG_FLAG.renamed.
void CountRename() {
  const char* const flag = std::getenv("HANG_FLAG");
  if (flag != nullptr) {
    std::ofstream(std::string(flag) + ".renamed", std::ios::app) << '.';
  }
}

template <typename Where>
void Touch(Where where, const char* kind) {
  if (IsBelow(where)) {
    WaitWhile(kind);
  }
}

}  // namespace

extern "C" {

int fsync(int fd) {
  Touch(fd, "sync");
  static auto* const next = Next<int(int)>("fsync");
  return next(fd);
}

int fdatasync(int fd) {
  Touch(fd, "sync");
  static auto* const next = Next<int(int)>("fdatasync");
  return next(fd);
}

ssize_t write(int fd, const void* data, size_t size) {
  Touch(fd, "all");
  static auto* const next = Next<ssize_t(int, const void*, size_t)>("write");
  return next(fd, data, size);
}

ssize_t pwrite64(int fd, const void* data, size_t size, off64_t at) {
  Touch(fd, "all");
  static auto* const next = Next<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  return next(fd, data, size, at);
}

ssize_t pread64(int fd, void* data, size_t size, off64_t at) {
  Touch(fd, "all");
  static auto* const next = Next<ssize_t(int, void*, size_t, off64_t)>("pread64");
  return next(fd, data, size, at);
}

int renameat(int from, const char* name, int to, const char* new_name) noexcept {
  Touch(from, "rename");
  CountRename();
  static auto* const next = Next<int(int, const char*, int, const char*)>("renameat");
  return next(from, name, to, new_name);
}

int open64(const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  Touch(path, "all");
  static auto* const next = Next<int(const char*, int, ...)>("open64");
  return next(path, flags, mode);
}

int openat64(int directory, const char* path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  const auto mode = va_arg(rest, mode_t);
  va_end(rest);
  Touch(directory, "all");
  static auto* const next = Next<int(int, const char*, int, ...)>("openat64");
  return next(directory, path, flags, mode);
}

int open(const char* path, int flags, ...) __attribute__((alias("open64")));
int openat(int directory, const char* path, int flags, ...) __attribute__((alias("openat64")));

}  // extern "C"
