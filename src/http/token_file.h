#pragma once

#include <sys/stat.h>

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// Bearer tokens of --admin-token-file: `name:token` or `name:sha256:HEX` a line, several valid at
/// once, '#' comments. Re-read when the file changes; the last good one stays. Thread-safe.
class TokenFile {
 public:
  /// Throws std::runtime_error with one line when the file cannot be used. Never quotes a token.
  TokenFile(std::string path, Clock clock);

  /// What keeps the file from being used, in one line that quotes no token; empty: nothing.
  static std::string Problem(const std::string& path);

  /// The name of the token, or nullopt. Takes the same time whichever token it is, or none.
  std::optional<std::string> Check(std::string_view token);
  /// Reads the file again now.
  void Reload();
  /// Looks whether the file has changed, at most once a second. Whether it was read again.
  bool Poll();
  bool ok() const;

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Entry {
    std::string name;
    Digest digest;
  };
  struct Signature {
    dev_t device = 0;
    ino_t inode = 0;
    off_t size = -1;
    timespec modified{}, changed{};
    bool operator==(const Signature& other) const;
  };

  static Digest Hash(std::string_view token);
  static Signature SignatureOf(const struct stat& status);
  /// Empty on success, else one line.
  static std::string ReadFile(const std::string& path, std::vector<Entry>* entries,
                              Signature* signature);
  static std::string ParseLine(std::string_view line, std::vector<Entry>* entries);
  void Apply();

  const std::string path_;
  const Clock clock_;
  mutable std::mutex mutex_;  // guards all below
  std::vector<Entry> entries_;
  Signature signature_;
  SteadyTime next_poll_{};
  bool ok_ = true;
};

}  // namespace nicmon::http
