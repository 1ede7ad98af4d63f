#pragma once

#include <string>
#include <string_view>

#include "nicmon/base/unique_fd.h"

namespace nicmon {

/// Tells a service manager (systemd, `Type=notify`) how the process does: sd_notify(3)'s protocol,
/// one datagram a message to the socket of $NOTIFY_SOCKET. Without one every call does nothing; a
/// message that cannot be sent is dropped and never waited for. One thread.
///
/// Not by libsystemd: it would bring five libraries and a megabyte of resident memory to every
/// node for this one datagram, whose format systemd keeps stable.
class ServiceManager {
 public:
  /// `socket` as in $NOTIFY_SOCKET: a path, "@name" in the abstract namespace, or empty for none.
  explicit ServiceManager(std::string_view socket);
  /// Of this process's environment.
  static ServiceManager FromEnvironment();

  /// Start or reload is complete.
  void Ready();
  void Reloading();
  void Stopping();
  /// The sign of life that WatchdogSec= waits for, with a line for `systemctl status`.
  void Alive(const std::string& status);

 private:
  void Send(std::string_view message);

  UniqueFd fd_;
  std::string status_;  // as last sent
};

}  // namespace nicmon
