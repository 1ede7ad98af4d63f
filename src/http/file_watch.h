#pragma once

#include <sys/types.h>

#include <ctime>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// Which content a path leads to. Changes too when a symlink on the way points elsewhere, as in a
/// Kubernetes secret.
struct FileSignature {
  dev_t device = 0;
  ino_t inode = 0;
  off_t size = -1;  // as all of it: there is no such file
  timespec modified{}, changed{};

  static FileSignature Of(const std::string& path);
  bool operator==(const FileSignature& other) const;
};
using FileSignatures = std::map<std::string, FileSignature>;  // by path

/// The text of a file of at most 1 MiB; nullopt: `error` says in a few words why not. `seen` gets
/// its signature in any case: a file that cannot be read is complained about once.
std::optional<std::string> ReadWatched(const std::string& path, FileSignatures* seen,
                                       std::string* error);

/// What came of looking at files again.
enum class Reread { kUnchanged, kRefused, kTaken };

/// Files whose content is in force until one of them changes. Thread-safe.
class FileWatch {
 public:
  explicit FileWatch(Clock clock);

  /// True when one has changed since Seen(): it has to be read again. Looks once a second at most,
  /// whoever asks.
  bool Changed();
  /// What has been read by now, and whether it could be used. What came of it: kUnchanged when it
  /// could be used before, too, and is the same.
  Reread Seen(FileSignatures seen, bool ok);
  bool ok() const;

 private:
  const Clock clock_;
  mutable std::mutex mutex_;  // guards all below
  FileSignatures seen_;
  SteadyTime next_look_;
  bool ok_ = true;
};

}  // namespace nicmon::http
