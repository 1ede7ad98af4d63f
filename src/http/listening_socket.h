#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "nicmon/base/unique_fd.h"

namespace nicmon::http {

/// A TCP socket that listens; connections wait in the backlog until somebody accepts.
struct TcpSocket {
  UniqueFd fd;
  std::string address;    // "[::]:9879", as it is really bound
  bool loopback = false;  // nobody but this host can reach it
};

/// Whether an IPv4 or IPv6 address, also IPv4 as IPv6, is one of this host alone.
bool IsLoopback(const sockaddr_storage& address);

/// Throws std::runtime_error with one line that says what to do. `fall_back_to_ipv4`: "::" on a
/// host without IPv6 means 0.0.0.0. "::" takes IPv4 too. Never SO_REUSEPORT: a second start fails.
TcpSocket ListenTcp(const std::string& host, uint16_t port, bool fall_back_to_ipv4);

/// The path cannot be used, and another one would do.
struct UnusablePath : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A unix socket that listens; its file goes with it, unless somebody else's has taken the place.
class AdminSocket {
 public:
  AdminSocket() = default;  // none
  AdminSocket(AdminSocket&& other) noexcept;
  AdminSocket& operator=(AdminSocket&& other) noexcept;
  ~AdminSocket() { Close(); }

  /// Mode 0660, group `group` unless empty. Makes the socket's directory (0755) if the one above is
  /// there and is not /; replaces a stale socket. Throws UnusablePath, or std::runtime_error when a
  /// live process answers there or the group cannot be given: those are never worked around.
  static AdminSocket Listen(const std::string& path, const std::string& group);

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }  // empty: none
  void Close();

 private:
  UniqueFd fd_;
  std::string path_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace nicmon::http
