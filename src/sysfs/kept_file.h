#pragma once

#include <string>

#include "nicmon/base/unique_fd.h"
#include "nicmon/sysfs/files.h"

namespace nicmon::sysfs_internal {

/// Longest file that is read.
inline constexpr size_t kMaxFile = 4096;

/// Of a kept file no more is read: a number or a word is never that long. A page would be one more
/// page of the stack to touch, which a thread that has just been woken does not have at hand.
inline constexpr size_t kMaxKeptFile = 256;

/// Opens a regular file; anything else, a FIFO say, is EINVAL. On failure nothing is owned and
/// `error` has the errno.
UniqueFd OpenRegular(const std::string& full_path, int& error);

/// A file that is read again and again. Keeps its descriptor while all kept ones of the process
/// together take at most half of RLIMIT_NOFILE's soft limit (sockets and devices need theirs), and
/// opens the file for each read beyond that. Used by one thread.
class KeptFile {
 public:
  explicit KeptFile(std::string full_path) : path_(std::move(full_path)) {}
  ~KeptFile() { Drop(); }
  KeptFile(const KeptFile&) = delete;
  KeptFile& operator=(const KeptFile&) = delete;

  /// The file as it is now, also when it was replaced or came back since.
  FileRead Read();

 private:
  FileRead OpenAndRead();
  bool Replaced() const;
  void Drop();

  const std::string path_;
  UniqueFd fd_;
  bool in_sysfs_ = false;  // of fd_: a file that went answers ENODEV, nobody need ask
};

}  // namespace nicmon::sysfs_internal
