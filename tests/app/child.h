#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/base/unique_fd.h"

namespace nicmon::testing {

/// One run of a program, killed when its owner goes.
class Child {
 public:
  struct Options {
    bool block_stop_signals = false;  // SIGTERM waits from before exec on, as some supervisors do
    bool close_stdout = false;
    int stdout_fd = -1;          // where its output goes instead of to us
    bool pid_namespace = false;  // as PID 1 of an own one
  };

  explicit Child(const std::vector<std::string>& arguments) : Child(arguments, Options(), {}) {}
  Child(const std::vector<std::string>& arguments, const Options& options,
        const std::vector<std::string>& environment = {});
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// False when the system did not let us start it (pid_namespace without the right to).
  bool started() const { return pid_ > 0; }
  pid_t pid() const { return pid_; }
  void Signal(int signal) const;

  /// Exit code, or 128 + signal; nullopt when it still runs after `timeout`.
  std::optional<int> Wait(std::chrono::milliseconds timeout);

  /// Waits until its output (both streams) holds `text`; false when it ended or 10 s passed first.
  bool WaitForOutput(const std::string& text);
  const std::string& OutputSoFar() const { return text_; }
  /// Everything it wrote, read to the end.
  const std::string& Output();

 private:
  bool ReadMore(std::chrono::milliseconds timeout);

  pid_t pid_ = -1;      // who gets signals
  pid_t between_ = -1;  // its parent, where that is not us

  UniqueFd pidfd_;
  UniqueFd output_;
  std::string text_;
  std::optional<int> status_;
};

/// The whole answer to a request over a connected socket, or "" when there is none in time.
std::string Exchange(int socket, const std::string& request,
                     std::chrono::milliseconds patience = std::chrono::seconds(5));
/// A connection to 127.0.0.1:port or to a unix socket; owns nothing when it is refused.
UniqueFd ConnectTcp(int port);
UniqueFd ConnectUnix(const std::string& path);

}  // namespace nicmon::testing
