#pragma once

#include <csignal>

#include "nicmon/base/unique_fd.h"

namespace nicmon {

/// What the main thread waits for: signals that are held back, and one second after the other.
class ControlLoop {
 public:
  enum class Event { kStop, kReload, kSecond };

  /// SIGTERM, SIGINT and SIGHUP must be blocked. Throws std::system_error.
  ControlLoop();

  /// Waits for the next event; a signal comes before a second that is over too. Seconds that passed
  /// while nobody waited are one.
  Event Wait();

 private:
  UniqueFd signals_;
  UniqueFd timer_;
};

}  // namespace nicmon
