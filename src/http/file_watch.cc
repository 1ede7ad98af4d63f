#include "http/file_watch.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "nicmon/base/errno_text.h"
#include "nicmon/base/unique_fd.h"

namespace nicmon::http {
namespace {

constexpr auto kInterval = std::chrono::seconds(1);
constexpr size_t kMaxBytes = 1024 * 1024;

bool SameTime(const timespec& a, const timespec& b) {
  return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

FileSignature SignatureOf(const struct stat& status) {
  return {status.st_dev, status.st_ino, status.st_size, status.st_mtim, status.st_ctim};
}

}  // namespace

FileSignature FileSignature::Of(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 ? SignatureOf(status) : FileSignature{};
}

bool FileSignature::operator==(const FileSignature& other) const {
  return device == other.device && inode == other.inode && size == other.size &&
         SameTime(modified, other.modified) && SameTime(changed, other.changed);
}

std::optional<std::string> ReadWatched(const std::string& path, FileSignatures* seen,
                                       std::string* error) {
  (*seen)[path] = FileSignature::Of(path);
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status {};
  if (!fd || ::fstat(fd.get(), &status) != 0) {
    *error = ErrnoText(errno);
    return std::nullopt;
  }
  // Before the read: a change under way gives another signature next time.
  (*seen)[path] = SignatureOf(status);
  std::string text;
  std::array<char, 4096> chunk;
  ssize_t n = 0;
  while ((n = ::read(fd.get(), chunk.data(), chunk.size())) > 0) {
    text.append(chunk.data(), static_cast<size_t>(n));
    if (text.size() > kMaxBytes) {
      *error = "the file is larger than 1 MiB";
      return std::nullopt;
    }
  }
  if (n < 0) {
    *error = ErrnoText(errno);
    return std::nullopt;
  }
  return text;
}

FileWatch::FileWatch(Clock clock)
    : clock_(std::move(clock)), next_look_(clock_.steady() + kInterval) {}

bool FileWatch::Changed() {
  FileSignatures seen;
  {
    std::lock_guard lock(mutex_);
    const SteadyTime now = clock_.steady();
    if (now < next_look_) {
      return false;
    }
    next_look_ = now + kInterval;
    seen = seen_;
  }
  return std::any_of(seen.begin(), seen.end(), [](const auto& file) {
    return !(FileSignature::Of(file.first) == file.second);
  });
}

Reread FileWatch::Seen(FileSignatures seen, bool ok) {
  std::lock_guard lock(mutex_);
  const bool same = ok && ok_ && seen == seen_;
  seen_ = std::move(seen);
  ok_ = ok;
  return same ? Reread::kUnchanged : ok ? Reread::kTaken : Reread::kRefused;
}

bool FileWatch::ok() const {
  std::lock_guard lock(mutex_);
  return ok_;
}

}  // namespace nicmon::http
