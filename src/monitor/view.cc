#include "nicmon/monitor/view.h"

#include <algorithm>
#include <utility>

#include "name_order.h"

namespace nicmon {
namespace {

/// After how many ticks without an answer a port is stale and a thread stalled.
constexpr int kStaleTicks = 3;

std::optional<uint64_t> ExpectedSpeed(const ViewOptions& options, const DeviceSnapshot& device,
                                      const PortSnapshot& port) {
  std::optional<uint64_t> speed;
  for (const ExpectSpeed& rule : options.expect_speed) {
    bool applies = false;
    switch (rule.by) {
      case ExpectSpeed::By::kAll:
        applies = true;
        break;
      case ExpectSpeed::By::kName:
        applies = rule.matches(device.name);
        break;
      case ExpectSpeed::By::kBoard:
        applies = !device.identity.board_id.empty() && rule.matches(device.identity.board_id);
        break;
      case ExpectSpeed::By::kLink:
        applies = (port.link_layer == "InfiniBand" && rule.matches("ib")) ||
                  (port.link_layer == "Ethernet" && rule.matches("eth"));
        break;
    }
    if (applies) {
      speed = rule.bps;
    }
  }
  return speed;
}

/// Reasons in the order of kPauseReasons; admin comes from the hold, released from the release.
std::vector<PauseView> Pauses(const PortSnapshot& port, const Hold* hold, const Release* release) {
  std::vector<PauseView> pauses;
  for (const PauseReason reason : kPauseReasons) {
    PauseView pause{reason, std::nullopt, std::nullopt, "", "", ""};
    if (reason == PauseReason::kAdmin) {
      if (hold == nullptr) {
        continue;
      }
      pause = {reason, hold->since, hold->until, hold->reason, hold->by, hold->id};
    } else if (reason == PauseReason::kReleased && release != nullptr) {
      // In force from the reply on, also while a stalled device has not closed yet.
      pause = {reason, release->since, release->until, release->reason, release->by, ""};
    } else if (port.pauses.Has(reason)) {
      pause.since = port.pause_since[static_cast<size_t>(reason)];
      if (reason == PauseReason::kSettling) {
        pause.until = port.settling_until;
      } else if (reason == PauseReason::kFatal) {
        pause.note = port.fatal_note;
      }
    } else {
      continue;
    }
    pauses.push_back(std::move(pause));
  }
  return pauses;
}

PortView BuildPortView(const ViewOptions& options, const DeviceView& device,
                       const PortSnapshot& port, const HoldsSnapshot& holds, SteadyTime now_steady,
                       WallTime now_wall) {
  const PortKey key{device.data->id, port.number};
  PortView view;
  view.device = device.data;
  view.data = &port;
  view.hold = holds.FindHold(key, now_wall);
  const Release* release = holds.FindRelease(key.first, now_wall);
  view.paused = Pauses(port, view.hold, release);
  view.up = port.up();
  const bool watched =
      device.data->status == DeviceStatus::kOpen || device.data->status == DeviceStatus::kDenied;
  const bool overdue = watched && now_steady - port.last_query_steady > kStaleTicks * options.tick;
  view.stale = port.state.has_value() && (port.stale || overdue);
  const bool evidence = port.event_evidence && !overdue;
  view.serving = view.up && view.paused.empty() && (!view.stale || evidence);
  if (const PortRecord* record = holds.FindRecord(key)) {
    view.required = record->required;
    view.baseline_speed_bps = record->baseline_bps;
  }
  view.expected_speed_bps = ExpectedSpeed(options, *device.data, port);
  if (const auto it = holds.pauses.find(key); it != holds.pauses.end()) {
    view.admin_pauses = it->second;
  }
  if (port.stats) {
    view.stats_age = std::max(Duration(0), now_steady - port.stats->round->sampled);
  }
  return view;
}

bool Stalled(const ViewOptions& options, const Heartbeat::Reading& heartbeat, SteadyTime now) {
  return heartbeat.call != nullptr && now - heartbeat.busy_since >= kStaleTicks * options.tick;
}

/// Not seen since this process started, and not given up either: no other device sits in its place,
/// and it is to be watched.
bool Awaited(const ViewOptions& options, const KeptDevice& kept) {
  const bool left_out = options.watch_device && !options.watch_device(kept.name);
  return kept.device == 0 && !kept.orphaned_since && !left_out;
}

/// The number of required ports; those of devices that were not seen yet go to `awaited`, too.
uint32_t CountRequired(const ViewOptions& options, const HoldsSnapshot& holds,
                       std::vector<std::string>* awaited) {
  uint32_t count = 0;
  for (const auto& [number, kept] : holds.kept) {
    if (kept.device == 0 && !Awaited(options, kept)) {
      continue;
    }
    for (const auto& [port_number, port] : kept.ports) {
      count += port.record.required ? 1 : 0;
      if (port.record.required && kept.device == 0) {
        awaited->push_back(kept.name + "/" + std::to_string(port_number));
      }
    }
  }
  return count;
}

/// Holds on ports that no view has, because their device was gone when this process started. They
/// are among the required ones, so who subtracts the held from those has to know of them.
uint32_t CountHeldOfAwaited(const ViewOptions& options, const HoldsSnapshot& holds, WallTime now) {
  uint32_t count = 0;
  for (const HoldsSnapshot::Item& item : holds.InForce(now)) {
    count += Awaited(options, *item.kept) ? 1 : 0;
  }
  return count;
}

}  // namespace

bool PortView::Paused(PauseReason reason) const {
  return std::any_of(paused.begin(), paused.end(),
                     [&](const PauseView& pause) { return pause.reason == reason; });
}

std::string_view DeviceView::status_name() const {
  return stalled ? "stalled" : DeviceStatusName(data->status);
}

DeviceView BuildDeviceView(const ViewOptions& options, const ViewInput::Device& device,
                           const std::shared_ptr<const HoldsSnapshot>& holds, SteadyTime now_steady,
                           WallTime now_wall) {
  DeviceView view;
  view.data = device.snapshot;
  view.stalled = Stalled(options, device.heartbeat, now_steady);
  if (view.stalled) {
    view.stalled_call = device.heartbeat.call;
    view.stalled_for = now_steady - device.heartbeat.busy_since;
  }
  view.snapshot_age = std::max(Duration(0), now_steady - view.data->published);
  view.ports.reserve(view.data->ports.size());
  for (const PortSnapshot& port : view.data->ports) {
    view.ports.push_back(BuildPortView(options, view, port, *holds, now_steady, now_wall));
  }
  return view;
}

NodeView BuildView(const ViewOptions& options, const ViewInput& input) {
  NodeView node;
  node.node_name = options.node_name;
  node.now = input.now_wall;
  node.discovered = input.discovered;
  node.discovery_note = input.discovery_note;
  node.discovery_stalled = Stalled(options, input.discovery_heartbeat, input.now_steady);
  node.holds = input.holds;
  node.devices.reserve(input.devices.size());
  for (const ViewInput::Device& device : input.devices) {
    node.devices.push_back(
        BuildDeviceView(options, device, input.holds, input.now_steady, input.now_wall));
  }
  std::sort(node.devices.begin(), node.devices.end(), [](const DeviceView& a, const DeviceView& b) {
    return NameLess(a.data->name, b.data->name);
  });
  for (const DeviceView& device : node.devices) {
    for (const PortView& port : device.ports) {
      ++node.ports;
      node.ports_up += port.up ? 1 : 0;
      node.ports_serving += port.serving ? 1 : 0;
      node.ports_held += port.hold != nullptr ? 1 : 0;
    }
  }
  node.ports_held += CountHeldOfAwaited(options, *input.holds, input.now_wall);
  node.ports_required = CountRequired(options, *input.holds, &node.awaited);
  if (options.expect_ports_auto) {
    node.expected_ports = node.ports_required;
  } else if (options.expect_ports > 0) {
    node.expected_ports = options.expect_ports;
  }
  return node;
}

}  // namespace nicmon
