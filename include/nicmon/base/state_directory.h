#pragma once

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/unique_fd.h"

namespace nicmon {

/// The path cannot be used by this process; another one might do.
class UnusableDirectory : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A directory of our own for what outlives the process, locked against a second process until it
/// is destroyed. Everything goes through its descriptor: a path that is mounted over meanwhile does
/// not lead us astray. Any thread.
class StateDirectory {
 public:
  /// Makes the directory (0750) where it is missing. One on a file system that is read-only is
  /// opened all the same: what it holds can be read, and the writes fail. Throws UnusableDirectory
  /// when there is no directory to be had, std::runtime_error when another process has it; one line
  /// each.
  explicit StateDirectory(const std::string& path);

  const std::string& path() const { return path_; }

  struct Content {
    int error = 0;  // errno; ENOENT: there is no such file
    std::string text;
  };
  /// The whole file; EFBIG when it is larger than `limit` bytes, EISDIR and the like for what is no
  /// regular file.
  Content Read(const std::string& name, size_t limit) const;

  /// Puts `text` in the place of the file's content, all of it or nothing, and comes back once the
  /// disk has it. 0 or an errno; after an error the old content is in place, or the new one if only
  /// the directory could not be synced. `wanted` is asked when only the new content's name is left
  /// to be given: false means ECANCELED, and the old content.
  int Replace(const std::string& name, std::string_view text,
              const std::function<bool()>& wanted = {}) const;

  /// A second name for the file as it is now, which Replace() leaves alone; a copy where the file
  /// system has no links. 0 (also when `copy` exists) or an errno.
  int KeepAs(const std::string& name, const std::string& copy) const;

  /// Names in it that begin with `prefix`, sorted.
  std::vector<std::string> List(const std::string& prefix) const;

  /// Seconds since 1970 of the file's last change; 0 when it cannot be told.
  int64_t ChangedAt(const std::string& name) const;

 private:
  std::string path_;
  UniqueFd directory_;
  UniqueFd lock_;  // of a file in it; owns nothing where none can be made (read-only)
};

}  // namespace nicmon
