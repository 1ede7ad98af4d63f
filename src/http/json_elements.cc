#include "http/json_elements.h"

#include <cmath>

namespace nicmon::http::json {
namespace {

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

/// The GID in use, or why there is none.
Json PortGidJson(const PortSnapshot& port) {
  if (!port.gid && port.gid_note.empty()) {
    return {};
  }
  Json json =
      port.gid ? GidJson(*port.gid)
               : Json{{"index", nullptr}, {"gid", nullptr}, {"type", nullptr}, {"netdev", nullptr}};
  json["note"] = Str(port.gid_note);
  return json;
}

Json DataPathJson(const DataPathStatus& data_path) {
  return {{"mode", std::string(DataPathModeName(data_path.mode))},
          {"ready", Opt(data_path.ready)},
          {"reason", Str(data_path.note)}};
}

/// Gigatransfers per second: 32, but 2.5.
Json GigaTransfers(const std::optional<double>& speed) {
  constexpr double kTenth = 1e8;
  if (!speed) {
    return {};
  }
  const auto tenths = static_cast<uint64_t>(*speed / kTenth + 0.5);
  return tenths % 10 == 0 ? Json(tenths / 10) : Json(static_cast<double>(tenths) / 10);
}

Json PcieJson(const PcieLink& link) {
  if (link == PcieLink()) {
    return {};
  }
  Json json = Json::object();
  json["speed_gtps"] = GigaTransfers(link.speed);
  json["width"] = Opt(link.width);
  json["max_speed_gtps"] = GigaTransfers(link.max_speed);
  json["max_width"] = Opt(link.max_width);
  json["below_maximum"] = BelowMaximum(link);
  json["note"] = BelowMaximum(link) ? Json("the PCIe link runs at " + PcieText(link) +
                                           ": check the slot, its bifurcation and the card's seat")
                                    : Json();
  return json;
}

Json BondJson(const NetdevAttributes& netdev) {
  if (!netdev.bond_members) {
    return {};
  }
  Json json = Json::object();
  json["members"] = *netdev.bond_members;
  json["members_up"] = Opt(netdev.bond_members_up);
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

}  // namespace

std::string Text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Json Str(std::string_view text) {
  return text.empty() ? Json() : Json(std::string(text));
}

Json Time(const std::optional<WallTime>& time) {
  return time ? Json(Rfc3339(*time)) : Json();
}

Json Gbps(const std::optional<uint64_t>& bps) {
  constexpr uint64_t kGiga = 1'000'000'000;
  if (!bps) {
    return {};
  }
  return *bps % kGiga == 0 ? Json(*bps / kGiga) : Json(static_cast<double>(*bps) / kGiga);
}

/// A measured rate: to the Mb/s, since more digits would only be those of the clock.
Json GbpsOf(const std::optional<double>& bytes_per_second) {
  return bytes_per_second ? Json(std::round(*bytes_per_second * 8 / 1e6) / 1e3) : Json();
}

std::string Netdev(const PortView& port) {
  const auto& names = port.device->identity.netdev;
  const auto found = names.find(port.data->number);
  return found != names.end() ? found->second : port.data->gid ? port.data->gid->netdev : "";
}

Json GidJson(const Gid& gid) {
  return {{"index", gid.index},
          {"gid", GidText(gid)},
          {"type", std::string(GidTypeName(gid.type))},
          {"netdev", Str(gid.netdev)}};
}

Json PortJson(const PortView& port) {
  const PortSnapshot& data = *port.data;
  Json json = Json::object();
  json["device"] = port.device->name;
  json["port"] = data.number;
  json["link_layer"] = Str(data.link_layer);
  json["netdev"] = Str(Netdev(port));
  json["carrier_changes"] = Opt(data.netdev.carrier_changes);
  json["bond"] = BondJson(data.netdev);
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
  json["gid"] = PortGidJson(data);
  json["last_change"] = Time(data.last_change);
  json["flaps"] = data.counts.flaps;
  json["last_query"] = Time(data.last_query);
  json["rx_gbps"] = data.stats ? GbpsOf(data.stats->rx_bytes_per_second) : Json();
  json["tx_gbps"] = data.stats ? GbpsOf(data.stats->tx_bytes_per_second) : Json();
  return json;
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
  json["physical_function"] = Str(identity.physical_function);
  json["pcie"] = PcieJson(data.pcie);
  json["numa_node"] = Opt(identity.numa_node);
  json["node_type"] = Str(identity.node_type);
  json["function"] = std::string(FunctionName(identity.function));
  json["kernel_index"] = data.kernel_index < 0 ? Json() : Json(data.kernel_index);
  json["data_path"] = DataPathJson(data.data_path);
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

Json KeptHoldJson(const HoldsSnapshot::Item& item) {
  const KeptDevice& kept = *item.kept;
  Json json = HoldJson(*item.hold, kept.name, kept.orphaned_since.has_value());
  json["orphaned_since"] = Time(kept.orphaned_since);
  json["present"] = kept.present;
  json["node_guid"] = Str(kept.key.node_guid);
  json["pci_address"] = Str(kept.key.pci_address);
  return json;
}

}  // namespace nicmon::http::json
