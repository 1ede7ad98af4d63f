#pragma once

#include <functional>
#include <set>

#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/view.h"

namespace nicmon {

/// What the main thread looks after once a second: holds that have run out, and devices whose
/// threads are stuck, which cannot say so themselves. Used by one thread.
class Watchdog {
 public:
  /// `poke` makes a device look at its holds at once.
  Watchdog(std::shared_ptr<Holds> holds, std::function<void(DeviceId)> poke)
      : holds_(std::move(holds)), poke_(std::move(poke)) {}

  /// Ends holds, and logs what began or ended to be stuck since the last call.
  void Turn(const NodeView& view);

 private:
  void EndHolds();
  void LogStalled(const DeviceView& device);

  std::shared_ptr<Holds> holds_;
  std::function<void(DeviceId)> poke_;
  std::set<DeviceId> stalled_;
  bool discovery_stalled_ = false;
};

}  // namespace nicmon
