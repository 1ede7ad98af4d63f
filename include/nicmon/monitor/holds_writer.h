#pragma once

#include <memory>

#include "nicmon/base/clock.h"
#include "nicmon/monitor/holds.h"

namespace nicmon {

/// Writes what device threads have learned of ports, once a second if there is something, on a
/// thread of its own: a disk may hang for minutes, and main has signals to look after.
class HoldsWriter {
 public:
  explicit HoldsWriter(std::shared_ptr<Holds> holds, Duration period = std::chrono::seconds(1));
  /// Ends the thread; one that hangs at the disk is left behind, what it touches is its own.
  ~HoldsWriter();

  void Start();
  /// Has the last of it written and waits for that, at most `timeout`; whether it is on disk.
  bool Stop(Duration timeout);

 private:
  struct State;
  static void Run(const std::shared_ptr<State>& state);

  std::shared_ptr<State> state_;
};

}  // namespace nicmon
