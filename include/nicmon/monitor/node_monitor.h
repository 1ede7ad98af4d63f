#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/pending.h"
#include "nicmon/monitor/probe.h"
#include "nicmon/monitor/stats.h"
#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"
#include "nicmon/sysfs/files.h"
#include "nicmon/verbs/verbs_api.h"

namespace nicmon {

struct NodeMonitorOptions {
  Duration tick = std::chrono::seconds(1);
  Duration settle{0};
  Duration counters_interval = std::chrono::seconds(15);
  DataPathMode data_path = DataPathMode::kOnDemand;
  Duration discovery_interval = std::chrono::seconds(1);
  bool all_functions = false;                            // --functions all
  std::function<bool(const std::string&)> watch_device;  // --device-include/-exclude by name
  RecordTransition record;                               // what happens, for the history
};

/// Everything monitored on this node: the discovery thread and one thread per device.
/// All public methods may be called from any thread.
class NodeMonitor {
 public:
  NodeMonitor(std::shared_ptr<const VerbsApi> verbs, SysfsFiles sysfs, Clock clock,
              NodeMonitorOptions options, std::shared_ptr<Holds> holds);
  /// Stops what still runs; threads that hang are left behind, their state is shared-owned.
  ~NodeMonitor();

  void Start();

  /// Asks every thread to end and waits at most `timeout`. Commands under way end with kStopping.
  /// Whether all threads ended; a hung one never will.
  bool Stop(Duration timeout);

  /// Fills everything but the clock readings and holds of `input`. Never touches hardware.
  ViewInput Read() const;

  /// Queues a command for a device; nullptr when there is no such device. A full queue or a
  /// stopping monitor answers through the Pending at once.
  std::shared_ptr<Pending> Submit(DeviceId device, CommandKind kind, uint32_t port);

  /// Probes a port's data path; waits for at most `patience`. kUnknownPort without such a device.
  ProbeOutcome Probe(DeviceId device, uint32_t port, Duration patience);
  /// Whether a probe holds handles of the device.
  bool Probing(DeviceId device) const;

  /// Stops monitoring a device that is absent; false when it is present or unknown.
  bool Forget(DeviceId device);

  NodeStats& stats();

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;
};

}  // namespace nicmon
