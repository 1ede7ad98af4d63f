#pragma once

#include <functional>
#include <memory>
#include <string>

#include "nicmon/base/clock.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/pending.h"
#include "nicmon/monitor/probe.h"
#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"
#include "nicmon/sim/simulated_rnic.h"

namespace nicmon {

/// Everything the HTTP routes may do, given by main. All functions are thread-safe and, but for
/// `probe`, return at once: reads never touch hardware, commands are queued.
struct Backend {
  std::function<NodeView()> view;
  /// A device's view as of a given snapshot, for `before` and `after`.
  std::function<DeviceView(std::shared_ptr<const DeviceSnapshot>)> view_of;
  /// nullptr: no such device.
  std::function<std::shared_ptr<Pending>(DeviceId, CommandKind, uint32_t port)> submit;
  /// Probes the data path of a port, on a thread of its own; waits for at most `patience`.
  std::function<ProbeOutcome(DeviceId, uint32_t port, Duration patience)> probe;
  /// Whether a probe holds handles of the device, also one that hangs.
  std::function<bool(DeviceId)> probing;
  /// Stops monitoring an absent device; false when it is present.
  std::function<bool(DeviceId)> forget_device;
  std::shared_ptr<Holds> holds;
  /// Tells the history; may be empty.
  RecordTransition record;
  /// Reads the history.
  std::function<EventPage(const EventQuery&)> events;
  /// The whole Prometheus text page.
  std::function<std::string()> metrics;
  /// Whether the process does its own work (main's watchdog loop turns).
  std::function<bool()> healthy;
  /// Carries out a simulator command; empty unless --simulate. Returns an error line or "".
  std::function<std::string(const SimCommand&)> simulate;
  Clock clock;
  std::string version;
};

}  // namespace nicmon
