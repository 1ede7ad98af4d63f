#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/base/clock.h"
#include "nicmon/base/heartbeat.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/snapshot.h"

namespace nicmon {

/// One reason in `paused`.
struct PauseView {
  PauseReason reason;
  std::optional<WallTime> since;
  std::optional<WallTime> until;
  std::string note;
  std::string by;
  std::string id;  // of the hold
};

/// One port as every reader shows it. `data` is the snapshot's; what depends on the clock, on holds
/// or on flags is computed here.
struct PortView {
  std::shared_ptr<const DeviceSnapshot> device;  // keeps `data` alive
  const PortSnapshot* data = nullptr;
  bool up = false;       // exactly ACTIVE
  bool stale = false;    // the last query failed, or is older than three ticks
  bool serving = false;  // up, nothing pauses it, not stale (or by event evidence)
  bool required = false;
  std::vector<PauseView> paused;
  std::optional<uint64_t> expected_speed_bps;
  std::optional<uint64_t> baseline_speed_bps;
  uint64_t admin_pauses = 0;
  std::optional<Duration> stats_age;  // since the last complete round of counters; none yet
  const Hold* hold = nullptr;         // owned by NodeView::holds

  bool Paused(PauseReason reason) const;
};

struct DeviceView {
  std::shared_ptr<const DeviceSnapshot> data;
  bool stalled = false;      // its thread is stuck in a call for three ticks or more
  std::string stalled_call;  // "query_port"
  Duration stalled_for{0};
  Duration snapshot_age{0};
  std::vector<PortView> ports;

  bool open() const { return data->status == DeviceStatus::kOpen; }
  /// "open", …, or "stalled".
  std::string_view status_name() const;
};

struct NodeView {
  std::string node_name;
  WallTime now{};
  bool discovered = false;     // the first discovery pass is over
  std::string discovery_note;  // what is wrong with discovery, one line; empty when nothing is
  bool discovery_stalled = false;
  std::shared_ptr<const HoldsSnapshot> holds;
  std::vector<DeviceView> devices;  // by name
  std::optional<uint32_t> expected_ports;
  uint32_t ports = 0, ports_up = 0, ports_serving = 0, ports_held = 0;
  uint32_t ports_required = 0;       // also of devices that were not seen since the start
  std::vector<std::string> awaited;  // "mlx5_3/1": those of them, by the name they had

  bool Ready() const { return discovered && (!expected_ports || ports_up >= *expected_ports); }
};

/// What is missing, in one line; empty when nothing is. Names ports and their states, and nothing
/// that an operator wrote.
std::string WhyNotReady(const NodeView& view);

/// One --expect-speed rule.
struct ExpectSpeed {
  enum class By { kAll, kName, kBoard, kLink };
  By by = By::kAll;
  std::function<bool(const std::string&)> matches;  // on the name, board id or "ib"/"eth"
  uint64_t bps = 0;
};

/// Flags the view depends on.
struct ViewOptions {
  std::string node_name;
  Duration tick = std::chrono::seconds(1);
  std::vector<ExpectSpeed> expect_speed;  // later ones win
  uint32_t expect_ports = 0;              // 0: not set
  bool expect_ports_auto = false;         // the required ports
  /// Whether a device of this name is watched; empty: all are. Ports of a device that has not been
  /// seen since the start are required all the same, unless it is left out on purpose.
  std::function<bool(const std::string&)> watch_device;
};

struct ViewInput {
  struct Device {
    std::shared_ptr<const DeviceSnapshot> snapshot;
    Heartbeat::Reading heartbeat;
  };
  std::vector<Device> devices;
  std::shared_ptr<const HoldsSnapshot> holds;
  bool discovered = false;
  std::string discovery_note;
  Heartbeat::Reading discovery_heartbeat;
  SteadyTime now_steady{};
  WallTime now_wall{};
};

/// The one place that decides what is serving, paused, stale and stalled. Pure.
NodeView BuildView(const ViewOptions& options, const ViewInput& input);

/// The same for one device, for before and after of a command.
DeviceView BuildDeviceView(const ViewOptions& options, const ViewInput::Device& device,
                           const std::shared_ptr<const HoldsSnapshot>& holds, SteadyTime now_steady,
                           WallTime now_wall);

}  // namespace nicmon
