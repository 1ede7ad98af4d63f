#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "app/child.h"
#include "config/temp_file.h"

namespace nicmon::testing {

/// What one run of `nicmon ctl` did.
struct CtlResult {
  int code = -1;
  std::string out, err;
};

using Strings = std::vector<std::string>;

/// A simulator command: the second device's port goes down.
inline constexpr const char* kPortDown =
    R"({"device":"mlx5_1","port":1,"set":{"state":"down","physical_state":"polling"},"event":"PORT_ERR"})";

/// Runs a program to its end, or gives up after 20 s (code -1).
CtlResult RunProgram(const Strings& arguments, const Strings& environment = {}, int stdout_fd = -1);
/// `nicmon ctl` with these arguments and nothing in its environment but `environment`.
CtlResult Ctl(const Strings& arguments, const Strings& environment = {});

/// A simulated nicmon with its admin socket in a directory of its own.
class Daemon {
 public:
  explicit Daemon(const Strings& flags = {"--simulate=devices=2"});

  const std::string& socket() const { return socket_; }
  std::string url();  // "http://127.0.0.1:PORT"
  std::string environment() const { return "NICMON_ADMIN_SOCKET=" + socket_; }
  const std::string& directory() const { return directory_.path(); }
  Child& process() { return child_; }

  /// `nicmon ctl` on the admin socket.
  CtlResult Ctl(const Strings& arguments) const;
  /// Whether `nicmon ctl` ends with `code` before long.
  bool Becomes(const Strings& arguments, int code) const;
  /// One command of the simulator, as JSON.
  void Simulate(const std::string& command) const;

 private:
  TempDir directory_;
  std::string socket_;
  Child child_;
};

/// A unix socket that listens, or with `listens` false one whose owner has gone.
UniqueFd UnixSocket(const std::string& path, bool listens);

}  // namespace nicmon::testing
