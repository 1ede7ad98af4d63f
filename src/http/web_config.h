#pragma once

#include <memory>
#include <mutex>
#include <string>

#include "http/file_watch.h"
#include "http/web_settings.h"
#include "nicmon/base/clock.h"

namespace nicmon::http {

/// A --web-config-file in force, with the certificates it names. Only read.
struct WebConfig {
  WebSettings settings;
  std::shared_ptr<const TlsContext> tls;  // nullptr: plain HTTP
};

/// Reads the file and what it names; re-reads all when one of them changes. The last good one
/// stays. Thread-safe.
class WebConfigFile {
 public:
  /// Throws std::runtime_error with one line when it cannot be used. `crosses_network`: what is not
  /// encrypted can be read on the way, which is worth a warning where passwords are asked for.
  WebConfigFile(std::string path, Clock clock, bool crosses_network = false);

  /// What keeps the file from being used, in one line that quotes nothing secret; empty: nothing.
  static std::string Problem(const std::string& path);

  std::shared_ptr<const WebConfig> current() const;
  /// Reads everything again now.
  Reread Reload();
  /// Reads it again when something has changed; looks at most once a second.
  Reread Poll();
  bool ok() const { return watch_.ok(); }

 private:
  /// nullptr: `error` says why, in one line.
  static std::shared_ptr<const WebConfig> Read(const std::string& path, FileSignatures* seen,
                                               std::string* error);

  void LogTaken(const WebConfig& config) const;

  const std::string path_;
  const bool crosses_network_;
  FileWatch watch_;
  mutable std::mutex mutex_;  // guards config_
  std::shared_ptr<const WebConfig> config_;
};

}  // namespace nicmon::http
