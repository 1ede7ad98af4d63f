#include "nicmon/base/state_directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "nicmon/base/errno_text.h"

namespace nicmon {
namespace {

constexpr char kLockFile[] = "lock";
constexpr mode_t kDirectoryMode = 0750;
constexpr mode_t kFileMode = 0640;

[[noreturn]] void Fail(const std::string& path, int error) {
  throw UnusableDirectory("cannot use the state directory " + path + ": " + ErrnoText(error) +
                          "; it has to be a directory that user " + std::to_string(::geteuid()) +
                          " may write: hand it over (chown), or choose another one or none with "
                          "--state-dir");
}

void MakeDirectory(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code ignored;  // what is wrong with a parent shows when the directory is made
  if (!parent.empty()) {
    std::filesystem::create_directories(parent, ignored);
  }
  if (::mkdir(path.c_str(), kDirectoryMode) == 0) {
    // Its name has to be on disk before anything in it is.
    const UniqueFd above(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_CLOEXEC));
    if (above) {
      ::fsync(above.get());
    }
  }
}

UniqueFd Lock(int directory, const std::string& path) {
  UniqueFd fd(::openat(directory, kLockFile, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  const int error = errno;
  if (!fd && (error == EROFS || error == ENOSPC || error == EDQUOT)) {
    // Nothing can be written now, but what is there is to be in force.
    fd.reset(::openat(directory, kLockFile, O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
    if (!fd) {
      return fd;
    }
  } else if (!fd) {
    Fail(path, error);
  }
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw std::runtime_error("another nicmon uses the state directory " + path +
                             ": stop it, or choose another one or none with --state-dir");
  }
  return fd;
}

/// 0 or an errno.
int WriteAll(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t n = ::write(fd, text.data(), text.size());
    if (n < 0 && errno == EINTR) {
      continue;
    }
    if (n <= 0) {
      return n < 0 ? errno : ENOSPC;
    }
    text.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

/// The file with `text` in it, on disk. 0 or an errno.
int WriteFile(int directory, const std::string& name, std::string_view text) {
  const UniqueFd fd(::openat(directory, name.c_str(),
                             O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, kFileMode));
  if (!fd) {
    return errno;
  }
  const int error = WriteAll(fd.get(), text);
  return error != 0 ? error : ::fsync(fd.get()) != 0 ? errno : 0;
}

}  // namespace

StateDirectory::StateDirectory(const std::string& path) : path_(path) {
  MakeDirectory(path);
  directory_.reset(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory_) {
    Fail(path, errno);
  }
  lock_ = Lock(directory_.get(), path);
}

StateDirectory::Content StateDirectory::Read(const std::string& name, size_t limit) const {
  // O_NONBLOCK: a FIFO under that name would be waited for.
  const UniqueFd fd(::openat(directory_.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    return {errno, {}};
  }
  Content content;
  std::array<char, 16384> buffer;
  ssize_t n = 0;
  while ((n = ::read(fd.get(), buffer.data(), buffer.size())) > 0) {
    content.text.append(buffer.data(), static_cast<size_t>(n));
    if (content.text.size() > limit) {
      return {EFBIG, {}};
    }
  }
  return n < 0 ? Content{errno, {}} : content;
}

int StateDirectory::Replace(const std::string& name, std::string_view text,
                            const std::function<bool()>& wanted) const {
  const std::string temporary = name + ".tmp";
  int error = WriteFile(directory_.get(), temporary, text);
  if (error == 0 && wanted && !wanted()) {
    error = ECANCELED;
  }
  if (error == 0 &&
      ::renameat(directory_.get(), temporary.c_str(), directory_.get(), name.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlinkat(directory_.get(), temporary.c_str(), 0);
    return error;
  }
  return ::fsync(directory_.get()) != 0 ? errno : 0;
}

int StateDirectory::KeepAs(const std::string& name, const std::string& copy) const {
  if (::linkat(directory_.get(), name.c_str(), directory_.get(), copy.c_str(), 0) == 0 ||
      errno == EEXIST) {
    return 0;
  }
  const int error = errno;
  if (error != EPERM && error != EOPNOTSUPP && error != EMLINK) {
    return error;
  }
  const Content content = Read(name, std::string::npos - 1);
  return content.error != 0 ? content.error : WriteFile(directory_.get(), copy, content.text);
}

std::vector<std::string> StateDirectory::List(const std::string& prefix) const {
  std::vector<std::string> names;
  UniqueFd fd(::openat(directory_.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(fd ? ::fdopendir(fd.get()) : nullptr,
                                                    ::closedir);
  if (!entries) {
    return names;
  }
  (void)fd.release();  // the stream's now
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with(prefix)) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

int64_t StateDirectory::ChangedAt(const std::string& name) const {
  struct stat status {};
  return ::fstatat(directory_.get(), name.c_str(), &status, 0) == 0 ? status.st_mtim.tv_sec : 0;
}

}  // namespace nicmon
