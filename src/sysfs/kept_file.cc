#include "kept_file.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>

namespace nicmon::sysfs_internal {
namespace {

std::atomic<rlim_t> g_kept{0};  // descriptors kept by this process

/// Takes one of the descriptors that may be kept; false when there is none left.
bool TakeShare() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return false;
  }
  if (g_kept.fetch_add(1, std::memory_order_relaxed) < limit.rlim_cur / 2) {
    return true;
  }
  g_kept.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

bool InSysfs(int fd) {
  struct statfs status {};
  return ::fstatfs(fd, &status) == 0 && status.f_type == SYSFS_MAGIC;
}

/// One call: a file of sysfs gives all it has at once.
FileRead ReadFromStart(int fd) {
  std::array<char, kMaxKeptFile> buffer;
  ssize_t n = 0;
  do {
    n = ::pread(fd, buffer.data(), buffer.size(), 0);
  } while (n < 0 && errno == EINTR);
  if (n < 0) {
    return {errno, ""};
  }
  return {0, std::string(buffer.data(), static_cast<size_t>(n))};
}

}  // namespace

UniqueFd OpenRegular(const std::string& full_path, int& error) {
  // Non-blocking, or a FIFO left in place of a file would hold the thread for ever.
  UniqueFd fd(::open(full_path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    error = errno;
    return {};
  }
  if (!S_ISREG(status.st_mode)) {
    error = EINVAL;
    return {};
  }
  error = 0;
  return fd;
}

FileRead KeptFile::Read() {
  if (!fd_) {
    return OpenAndRead();
  }
  if (!Replaced()) {
    FileRead file = ReadFromStart(fd_.get());
    if (file.error != ENODEV && file.error != ENOENT) {
      return file;
    }
  }
  // What the descriptor stands for is gone; something of the same name may be there by now.
  Drop();
  return OpenAndRead();
}

FileRead KeptFile::OpenAndRead() {
  int error = 0;
  UniqueFd fd = OpenRegular(path_, error);
  if (!fd) {
    return {error, ""};
  }
  FileRead file = ReadFromStart(fd.get());
  if (TakeShare()) {
    in_sysfs_ = InSysfs(fd.get());
    fd_ = std::move(fd);
  }
  return file;
}

bool KeptFile::Replaced() const {
  struct stat status {};
  return !in_sysfs_ && (::fstat(fd_.get(), &status) != 0 || status.st_nlink == 0);
}

void KeptFile::Drop() {
  if (fd_) {
    fd_.reset();
    g_kept.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace nicmon::sysfs_internal
