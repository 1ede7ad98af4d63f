#include <cmath>
#include <nlohmann/json.hpp>

#include "http/json.h"

namespace nicmon::http::json {
namespace {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Str(std::string_view text) {
  return text.empty() ? Json() : Json(std::string(text));
}

template <typename T>
Json Opt(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json Time(const std::optional<WallTime>& time) {
  return time ? Json(Rfc3339(*time)) : Json();
}

/// Whole numbers without a fraction: 400, but 2.5.
Json Gbps(const std::optional<uint64_t>& bps) {
  constexpr uint64_t kGiga = 1'000'000'000;
  if (!bps) {
    return {};
  }
  return *bps % kGiga == 0 ? Json(*bps / kGiga) : Json(static_cast<double>(*bps) / kGiga);
}

std::string_view FunctionName(DeviceFunction function) {
  switch (function) {
    case DeviceFunction::kVirtual:
      return "vf";
    case DeviceFunction::kSubfunction:
      return "sf";
    default:
      return "pf";
  }
}

Json GidJson(const PortSnapshot& port) {
  if (!port.gid && port.gid_note.empty()) {
    return {};
  }
  const Gid gid = port.gid.value_or(Gid{});
  Json json = Json::object();
  json["index"] = port.gid ? Json(gid.index) : Json();
  json["gid"] = port.gid ? Json(GidText(gid)) : Json();
  json["type"] = port.gid ? Json(std::string(GidTypeName(gid.type))) : Json();
  json["netdev"] = Str(gid.netdev);
  json["note"] = Str(port.gid_note);
  return json;
}

Json PausedJson(const PortView& port) {
  Json list = Json::array();
  for (const PauseView& pause : port.paused) {
    list.push_back({{"reason", std::string(PauseReasonName(pause.reason))},
                    {"since", Time(pause.since)},
                    {"until", Time(pause.until)},
                    {"note", Str(pause.note)},
                    {"by", Str(pause.by)},
                    {"id", Str(pause.id)}});
  }
  return list;
}

std::string Netdev(const PortView& port) {
  const auto& names = port.device->identity.netdev;
  const auto found = names.find(port.data->number);
  return found != names.end() ? found->second : port.data->gid ? port.data->gid->netdev : "";
}

Json PortJson(const PortView& port) {
  const PortSnapshot& data = *port.data;
  Json json = Json::object();
  json["device"] = port.device->name;
  json["port"] = data.number;
  json["link_layer"] = Str(data.link_layer);
  json["netdev"] = Str(Netdev(port));
  json["pci_address"] = Str(port.device->identity.pci_address);
  json["state"] = data.state ? Str(PortStateName(*data.state)) : Json();
  json["state_id"] = Opt(data.state);
  json["physical_state"] =
      data.physical_state ? Str(PhysicalStateName(*data.physical_state)) : Json();
  json["physical_state_id"] = Opt(data.physical_state);
  json["up"] = port.up;
  json["serving"] = port.serving;
  json["stale"] = port.stale;
  json["required"] = port.required;
  json["paused"] = PausedJson(port);
  json["effective_speed_gbps"] = Gbps(data.effective_speed_bps);
  json["nominal_speed_gbps"] = Gbps(data.nominal_speed_bps);
  json["expected_speed_gbps"] = Gbps(port.expected_speed_bps);
  json["baseline_speed_gbps"] = Gbps(port.baseline_speed_bps);
  json["speed_source"] = data.speed_source ? Str(SpeedSourceName(*data.speed_source)) : Json();
  json["lanes"] = Opt(data.lanes);
  json["lane_speed"] = Str(data.lane_speed);
  json["mtu"] = Opt(data.mtu_bytes);
  json["lid"] = Opt(data.lid);
  json["gid"] = GidJson(data);
  json["last_change"] = Time(data.last_change);
  json["flaps"] = data.counts.flaps;
  json["last_query"] = Time(data.last_query);
  // Measured throughput needs the data counters, which are not sampled yet: unknown.
  json["rx_gbps"] = Json();
  json["tx_gbps"] = Json();
  return json;
}

Json PortOrNull(const PortView* port) {
  return port == nullptr ? Json() : PortJson(*port);
}

Json DeviceJson(const DeviceView& device) {
  const DeviceSnapshot& data = *device.data;
  const Identity& identity = data.identity;
  Json json = Json::object();
  json["device"] = data.name;
  json["status"] = std::string(device.status_name());
  json["detail"] = Str(data.detail);
  json["node_guid"] = Str(identity.node_guid);
  json["sys_image_guid"] = Str(identity.sys_image_guid);
  json["board_id"] = Str(identity.board_id);
  json["hca_type"] = Str(identity.hca_type);
  json["firmware_version"] = Str(identity.firmware_version);
  json["driver"] = Str(identity.driver);
  json["pci_address"] = Str(identity.pci_address);
  json["numa_node"] = Opt(identity.numa_node);
  json["node_type"] = Str(identity.node_type);
  json["function"] = std::string(FunctionName(identity.function));
  json["kernel_index"] = data.kernel_index < 0 ? Json() : Json(data.kernel_index);
  json["data_path"] = Json();
  json["stalled_call"] = device.stalled ? Str(device.stalled_call) : Json();
  json["stalled_seconds"] =
      device.stalled ? Json(std::chrono::duration<double>(device.stalled_for).count()) : Json();
  json["snapshot_age_seconds"] = std::chrono::duration<double>(device.snapshot_age).count();
  Json ports = Json::array();
  for (const PortView& port : device.ports) {
    ports.push_back(port.data->number);
  }
  json["ports"] = std::move(ports);
  return json;
}

Json HoldJson(const Hold& hold, const std::string& device, bool orphaned) {
  return {{"id", hold.id},
          {"device", device},
          {"port", hold.port.second},
          {"reason", hold.reason},
          {"by", Str(hold.by)},
          {"since", Rfc3339(hold.since)},
          {"until", Time(hold.until)},
          {"orphaned", orphaned}};
}

Json ErrorJson(std::string_view code, std::string_view message, std::string_view hint) {
  return {{"error",
           {{"code", std::string(code)}, {"message", std::string(message)}, {"hint", Str(hint)}}}};
}

Json ChangeJson(const PortChange& change) {
  Json json = Json::object();
  json["port"] = change.port;
  json["before"] = PortOrNull(change.before);
  json["after"] = PortOrNull(change.after);
  json["changed"] = Changed(change.before, change.after);
  json["verdict"] = change.verdict;
  return json;
}

Json Milliseconds(double value) {
  return std::round(value * 1000) / 1000;
}

}  // namespace

std::string Error(std::string_view code, std::string_view message, std::string_view hint) {
  return Text(ErrorJson(code, message, hint));
}

std::string HeldError(std::string_view code, std::string_view message, std::string_view hint,
                      const Hold& hold, const std::string& device, bool orphaned) {
  Json json = ErrorJson(code, message, hint);
  json["hold"] = HoldJson(hold, device, orphaned);
  return Text(json);
}

std::string Object(const std::vector<std::pair<std::string, Value>>& members) {
  Json json = Json::object();
  for (const auto& [key, value] : members) {
    std::visit([&json, &name = key](const auto& v) { json[name] = v; }, value);
  }
  return Text(json);
}

std::string Node(const NodeView& view, const std::string& version, bool simulated) {
  Json json = Json::object();
  json["node"] = view.node_name;
  json["version"] = Str(version);
  json["time"] = Rfc3339(view.now);
  json["simulated"] = simulated;
  json["discovered"] = view.discovered;
  json["discovery_note"] = Str(view.discovery_note);
  json["discovery_stalled"] = view.discovery_stalled;
  json["ready"] = view.Ready();
  json["devices"] = view.devices.size();
  json["ports"] = view.ports;
  json["ports_up"] = view.ports_up;
  json["ports_serving"] = view.ports_serving;
  json["ports_held"] = view.ports_held;
  json["ports_required"] = view.ports_required;
  json["ports_expected"] = Opt(view.expected_ports);
  return Text(json);
}

std::string Ready(const NodeView& view) {
  Json json = Json::object();
  json["ready"] = view.Ready();
  json["discovered"] = view.discovered;
  json["ports"] = view.ports;
  json["ports_up"] = view.ports_up;
  json["ports_serving"] = view.ports_serving;
  json["ports_expected"] = Opt(view.expected_ports);
  json["note"] = Str(view.discovery_note);
  return Text(json);
}

std::string Devices(const NodeView& view) {
  Json list = Json::array();
  for (const DeviceView& device : view.devices) {
    list.push_back(DeviceJson(device));
  }
  return Text({{"devices", std::move(list)}});
}

std::string Device(const DeviceView& device) {
  return Text(DeviceJson(device));
}

std::string Ports(const NodeView& view) {
  Json list = Json::array();
  for (const DeviceView& device : view.devices) {
    for (const PortView& port : device.ports) {
      list.push_back(PortJson(port));
    }
  }
  return Text({{"ports", std::move(list)}});
}

std::string Port(const PortView& port) {
  return Text(PortJson(port));
}

std::string HoldList(const NodeView& view) {
  Json list = Json::array();
  for (const auto& [key, hold] : view.holds->holds) {
    if (view.holds->FindHold(key, view.now) == nullptr) {
      continue;  // has ended, and is swept up within a second
    }
    const DeviceView* device = nullptr;
    for (const DeviceView& candidate : view.devices) {
      device = candidate.data->id == key.first ? &candidate : device;
    }
    list.push_back(
        HoldJson(hold, device != nullptr ? device->data->name : hold.device, device == nullptr));
  }
  return Text({{"holds", std::move(list)}});
}

std::string Paused(const Hold& hold, const std::string& device, std::string_view effect) {
  Json json = Json::object();
  json["hold"] = HoldJson(hold, device, false);
  json["until"] = Time(hold.until);
  json["effect"] = std::string(effect);
  return Text(json);
}

std::string Resumed(bool changed, const Hold* hold, const std::string& device) {
  Json json = Json::object();
  json["changed"] = changed;
  json["hold"] = hold == nullptr ? Json() : HoldJson(*hold, device, false);
  return Text(json);
}

bool Changed(const PortView* before, const PortView* after) {
  if (before == nullptr || after == nullptr) {
    return before != after;
  }
  Json a = PortJson(*before);
  Json b = PortJson(*after);
  for (const char* volatile_key : {"last_query", "rx_gbps", "tx_gbps"}) {
    a.erase(volatile_key);
    b.erase(volatile_key);
  }
  return a != b;
}

std::string PortRequery(const std::string& device, const PortChange& change, double duration_ms,
                        const std::string& query_error) {
  Json json = Json::object();
  json["device"] = device;
  json.update(ChangeJson(change));
  json["duration_ms"] = Milliseconds(duration_ms);
  json["query_error"] = Str(query_error);
  return Text(json);
}

std::string DeviceRequery(const std::string& device, const std::vector<PortChange>& changes,
                          double duration_ms, const std::string& query_error) {
  Json json = Json::object();
  json["device"] = device;
  json["changed"] = false;
  json["duration_ms"] = Milliseconds(duration_ms);
  json["query_error"] = Str(query_error);
  json["ports"] = Json::array();
  for (const PortChange& change : changes) {
    json["ports"].push_back(ChangeJson(change));
    json["changed"] = json["changed"].get<bool>() || Changed(change.before, change.after);
  }
  return Text(json);
}

std::string DeviceStatuses(std::string_view status,
                           const std::vector<std::pair<std::string, std::string>>& devices) {
  Json json = Json::object();
  json["status"] = std::string(status);
  json["devices"] = Json::array();
  for (const auto& [device, device_status] : devices) {
    json["devices"].push_back({{"device", device}, {"status", device_status}});
  }
  return Text(json);
}

std::string Selection(const std::vector<const PortView*>& ports, std::optional<uint64_t> requested,
                      size_t available) {
  Json json = Json::object();
  json["requested"] = Opt(requested);
  json["available"] = available;
  json["ports"] = Json::array();
  for (const PortView* port : ports) {
    const auto& estimate = port->data->estimate_bytes_per_second;
    json["ports"].push_back({{"device", port->device->name},
                             {"port", port->data->number},
                             {"pci_address", Str(port->device->identity.pci_address)},
                             {"numa_node", Opt(port->device->identity.numa_node)},
                             {"netdev", Str(Netdev(*port))},
                             {"link_layer", Str(port->data->link_layer)},
                             {"effective_speed_gbps", Gbps(port->data->effective_speed_bps)},
                             {"estimate_gbps", estimate ? Json(*estimate * 8 / 1e9) : Json()}});
  }
  return Text(json);
}

}  // namespace nicmon::http::json
