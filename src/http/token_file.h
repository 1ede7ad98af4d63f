#pragma once

#include <array>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "http/file_watch.h"
#include "nicmon/base/clock.h"

namespace nicmon::http {

/// Bearer tokens of --admin-token-file: `name:token` or `name:sha256:HEX` a line, several valid at
/// once, '#' comments. No name and no token stands there twice: log and audit know who it was by
/// the name alone. Re-read when the file changes; the last good one stays. Thread-safe.
class TokenFile {
 public:
  /// Throws std::runtime_error with one line when the file cannot be used. Never quotes a token.
  TokenFile(std::string path, Clock clock);

  /// What keeps the file from being used, in one line that quotes no token; empty: nothing.
  static std::string Problem(const std::string& path);

  /// The name of the token, or nullopt. Takes the same time whichever token it is, or none.
  std::optional<std::string> Check(std::string_view token);
  /// Reads the file again now.
  Reread Reload();
  /// Reads it again when it has changed; looks at most once a second.
  Reread Poll();
  bool ok() const { return watch_.ok(); }

 private:
  using Digest = std::array<unsigned char, 32>;
  struct Entry {
    std::string name;
    Digest digest;
    size_t line = 0;
    bool weak = false;  // the token is so short that it might be guessed
  };
  static Digest Hash(std::string_view token);
  static bool ParseHex(std::string_view hex, Digest* digest);
  /// Empty on success, else one line.
  static std::string ReadFile(const std::string& path, std::vector<Entry>* entries,
                              FileSignatures* seen);
  /// Empty on success, else what is wrong; a comment leaves the entry without a name.
  static std::string ParseLine(std::string_view line, Entry* entry);
  static std::string FindTwice(const std::vector<Entry>& entries);
  void WarnOfWeak(const std::vector<Entry>& entries) const;

  const std::string path_;
  FileWatch watch_;
  mutable std::mutex mutex_;  // guards entries_
  std::vector<Entry> entries_;
};

}  // namespace nicmon::http
