#include "emitters.h"

#include <map>
#include <string>
#include <string_view>

namespace nicmon::emit {
namespace {

std::string_view FunctionName(DeviceFunction function) {
  switch (function) {
    case DeviceFunction::kPhysical:
      return "pf";
    case DeviceFunction::kVirtual:
      return "vf";
    case DeviceFunction::kSubfunction:
      return "sf";
  }
  return "";
}

}  // namespace

// Clients choose which of these series come to be, so their number has an end: a page that grows
// with what is asked of it would let them spend the node's budget.

void HttpRequests(Samples& samples, const MetricsInput& input) {
  constexpr size_t kMost = 16;
  size_t shown = 0;
  uint64_t rest = 0;
  for (const auto& [code, count] : input.http.requests) {
    if (++shown <= kMost) {
      samples.Add("code", std::to_string(code), static_cast<double>(count));
    } else {
      rest += count;
    }
  }
  if (rest > 0) {
    samples.Add("code", "other", static_cast<double>(rest));
  }
}

void HttpRejected(Samples& samples, const MetricsInput& input) {
  for (const auto& [reason, count] : input.http.rejected) {
    samples.Add("reason", reason, static_cast<double>(count));
  }
}

void AdminActions(Samples& samples, const MetricsInput& input) {
  constexpr size_t kMost = 24;
  size_t shown = 0;
  std::map<std::string_view, uint64_t> rest;  // by result
  for (const auto& [action_result, count] : input.http.admin_actions) {
    const auto& [action, result] = action_result;
    if (++shown <= kMost) {
      samples.Add({{"action", action}, {"result", result}}, static_cast<double>(count));
    } else {
      rest[result] += count;
    }
  }
  for (const auto& [result, count] : rest) {
    samples.Add({{"action", "other"}, {"result", result}}, static_cast<double>(count));
  }
}

void DeviceInfo(Samples& samples, const DeviceView& device) {
  const Identity& identity = device.data->identity;
  const std::string numa = identity.numa_node ? std::to_string(*identity.numa_node) : "";
  samples.Add({{"node_guid", identity.node_guid},
               {"sys_image_guid", identity.sys_image_guid},
               {"board_id", identity.board_id},
               {"hca_type", identity.hca_type},
               {"firmware_version", identity.firmware_version},
               {"driver", identity.driver},
               {"pci_address", identity.pci_address},
               {"numa_node", numa},
               {"function", FunctionName(identity.function)}},
              1);
}

void DeviceNotOpen(Samples& samples, const DeviceView& device) {
  if (!device.open()) {
    samples.Add("reason", DeviceStatusName(device.data->status), 1);
  }
}

void DeviceOpens(Samples& samples, const DeviceView& device) {
  samples.Add("result", "ok", static_cast<double>(device.data->opens_ok));
  samples.Add("result", "error", static_cast<double>(device.data->opens_failed));
}

void DeviceEvents(Samples& samples, const DeviceView& device) {
  for (const DeviceEventRow& row : DeviceEventRows()) {
    // Who owns no queue pair or the like never gets its events, so they have no series until one
    // came, and the minimal profile has no room for twelve more.
    const uint64_t count = device.data->events.at(static_cast<size_t>(row.type));
    const bool shown = count > 0 && samples.profile() != MetricsProfile::kMinimal;
    if (!row.own_objects || shown) {
      samples.Add("event", row.name, static_cast<double>(count));
    }
  }
  samples.Add("event", "other", static_cast<double>(device.data->events_other));
}

void PortInfo(Samples& samples, const PortView& port) {
  const auto& netdevs = port.device->identity.netdev;
  const auto netdev = netdevs.find(port.data->number);
  samples.Add({{"link_layer", port.data->link_layer},
               {"netdev", netdev == netdevs.end() ? std::string_view() : netdev->second}},
              1);
}

void PortStateSet(Samples& samples, const PortView& port) {
  if (!port.data->state || Released(port)) {
    return;
  }
  constexpr int kLast = 5;  // active_defer
  for (int state = 0; state <= kLast; ++state) {
    samples.Add("state", PortStateName(state), *port.data->state == state);
  }
}

void PortPhysicalStateSet(Samples& samples, const PortView& port) {
  if (!port.data->physical_state || Released(port)) {
    return;
  }
  // 1 sleep … 7 phy_test; every other number reads "unknown", which 0 stands for here.
  const std::string_view current = PhysicalStateName(*port.data->physical_state);
  for (const int state : {1, 2, 3, 4, 5, 6, 7, 0}) {
    const std::string_view name = PhysicalStateName(state);
    samples.Add("state", name, name == current);
  }
}

void PortSpeedSourceSet(Samples& samples, const PortView& port) {
  if (!port.data->speed_source || !HasSpeed(port)) {
    return;
  }
  for (const SpeedSource source : {SpeedSource::kVerb, SpeedSource::kEncoded, SpeedSource::kNetdev,
                                   SpeedSource::kBond, SpeedSource::kSysfs}) {
    samples.Add("source", SpeedSourceName(source), *port.data->speed_source == source);
  }
}

void PortPaused(Samples& samples, const PortView& port) {
  for (const PauseReason reason : kPauseReasons) {
    samples.Add("reason", PauseReasonName(reason), port.Paused(reason));
  }
}

void PortPauses(Samples& samples, const PortView& port) {
  samples.Add("reason", "link", static_cast<double>(port.data->counts.link_pauses));
  samples.Add("reason", "admin", static_cast<double>(port.admin_pauses));
}

void PortRecoveries(Samples& samples, const PortView& port) {
  const PortCounts& counts = port.data->counts;
  samples.Add("source", "event", static_cast<double>(counts.recovered_by_event));
  samples.Add("source", "tick", static_cast<double>(counts.recovered_by_tick));
  samples.Add("source", "admin", static_cast<double>(counts.recovered_by_admin));
}

void PortTransitions(Samples& samples, const PortView& port) {
  const PortCounts& counts = port.data->counts;
  samples.Add("to", "active", static_cast<double>(counts.to_active));
  samples.Add("to", "down", static_cast<double>(counts.to_down));
  samples.Add("to", "other", static_cast<double>(counts.to_other));
}

void PortMismatches(Samples& samples, const PortView& port) {
  const PortCounts& counts = port.data->counts;
  samples.Add("kind", "missed_event", static_cast<double>(counts.missed_events));
  samples.Add("kind", "spurious_event", static_cast<double>(counts.spurious_events));
}

void PortQueries(Samples& samples, const PortView& port) {
  samples.Add("result", "ok", static_cast<double>(port.data->counts.queries_ok));
  samples.Add("result", "error", static_cast<double>(port.data->counts.queries_failed));
}

void PortEvents(Samples& samples, const PortView& port) {
  for (int i = 0; i < kPortEventCount; ++i) {
    samples.Add("event", PortEventName(static_cast<PortEvent>(i)),
                static_cast<double>(port.data->counts.events.at(i)));
  }
}

void PortGidInfo(Samples& samples, const PortView& port) {
  if (const auto& gid = port.data->gid) {
    samples.Add({{"index", std::to_string(gid->index)},
                 {"gid", GidText(*gid)},
                 {"type", GidTypeName(gid->type)}},
                1);
  }
}

}  // namespace nicmon::emit
