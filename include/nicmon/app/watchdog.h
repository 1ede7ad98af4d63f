#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>

#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"

namespace nicmon {

/// What the main thread looks after once a second: holds that have run out, and devices whose
/// threads are stuck, which cannot say so themselves. Used by one thread.
class Watchdog {
 public:
  /// `poke` makes a device look at its holds at once; `record` may be empty.
  Watchdog(std::shared_ptr<Holds> holds, std::function<void(DeviceId)> poke,
           RecordTransition record = nullptr)
      : holds_(std::move(holds)), poke_(std::move(poke)), record_(std::move(record)) {}

  /// Ends holds; logs and records what began or ended to be stuck since the last call, and records
  /// which holds have lost their device to another one or got it back.
  void Turn(const NodeView& view);

 private:
  void EndHolds(WallTime now);
  void RecordOrphans(const HoldsSnapshot& holds, WallTime now);
  void LogStalled(const DeviceView& device, WallTime now);
  void RecordStalled(const DeviceView& device, WallTime now, bool stalled) const;
  void Record(Transition event) const;

  std::shared_ptr<Holds> holds_;
  std::function<void(DeviceId)> poke_;
  RecordTransition record_;
  std::set<DeviceId> stalled_;
  std::set<std::string> orphaned_;  // ids of holds
  std::optional<WallTime> started_;
  bool discovery_stalled_ = false;
};

}  // namespace nicmon
