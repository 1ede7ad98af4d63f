#include "http/text_tables.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "http/lookup.h"
#include "http/text.h"
#include "nicmon/base/terminal_text.h"

namespace nicmon::http {
namespace {

using Row = std::vector<std::string>;

std::string OrDash(std::string_view text) {
  return text.empty() ? "-" : std::string(text);
}

std::string TimeOrDash(const std::optional<WallTime>& time) {
  return time ? Rfc3339(*time) : "-";
}

/// The table, or one line that says that it is empty.
std::string TableOr(const std::vector<Row>& rows, const std::string& empty) {
  return rows.size() > 1 ? AlignedTable(rows) : empty + "\n";
}

/// "mlx5_0/1", "mlx5_0", or "-" for the node.
std::string EventTarget(const Transition& event) {
  return OrDash(event.port != 0 ? event.device + "/" + std::to_string(event.port) : event.device);
}

std::string NextPage(const EventPage& page) {
  return page.next ? "older ones: before=" + std::to_string(*page.next) + "\n" : "";
}

PciOrder DeviceOrder(const DeviceView& device) {
  PortView port;
  const PortSnapshot none;
  port.device = device.data;
  port.data = &none;
  return PciOrderOf(port);
}

/// What is wrong, for people: 0 a problem, 1 out of service on purpose, 2 in order.
int ProblemRank(const PortView& port) {
  if (port.serving) {
    return 2;
  }
  const bool on_purpose = port.hold != nullptr || port.Paused(PauseReason::kAdmin) ||
                          port.Paused(PauseReason::kReleased);
  return on_purpose ? 1 : 0;
}

int ProblemRank(const DeviceView& device) {
  if (device.open() && !device.stalled) {
    return 2;
  }
  return device.data->status == DeviceStatus::kReleased && !device.stalled ? 1 : 0;
}

/// "link since 2026-01-31T23:59:59.123Z; admin (bad cable) by ops until …"; empty without a pause.
std::string PauseText(const PortView& port) {
  std::string text;
  for (const PauseView& pause : port.paused) {
    text += (text.empty() ? "" : "; ") + std::string(PauseReasonName(pause.reason));
    text += pause.note.empty() ? "" : " (" + pause.note + ")";
    text += pause.by.empty() ? "" : " by " + pause.by;
    text += pause.since ? " since " + Rfc3339(*pause.since) : "";
    text += pause.until ? " until " + Rfc3339(*pause.until) : "";
  }
  return text;
}

/// "400", "2.5"; "-" when unknown.
std::string GbpsText(const std::optional<uint64_t>& bps) {
  if (!bps) {
    return "-";
  }
  std::array<char, 32> buffer;
  const double gbps = static_cast<double>(*bps) / 1e9;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), gbps);
  return std::string(buffer.data(), end.ptr);
}

/// A measured rate in Gb/s, to a tenth.
std::string RateText(const PortSnapshot& port,
                     std::optional<double> StatsSample::*bytes_per_second) {
  if (!port.stats || !(*port.stats.*bytes_per_second)) {
    return "-";
  }
  std::array<char, 32> buffer;
  const double gbps = *(*port.stats.*bytes_per_second) * 8 / 1e9;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), gbps,
                                 std::chars_format::fixed, 1);
  return std::string(buffer.data(), end.ptr);
}

/// Why the device cannot be used, or cannot be probed.
std::string DetailText(const DeviceView& device) {
  const std::string& detail = device.data->detail;
  const std::string& no_data_path = device.data->data_path.note;
  const std::string text = device.stalled ? "stuck in " + device.stalled_call : detail;
  return text + (text.empty() || no_data_path.empty() ? "" : "; ") +
         (no_data_path.empty() ? "" : "no data path: " + no_data_path);
}

std::string NetdevText(const PortView& port) {
  const auto& netdevs = port.device->identity.netdev;
  const auto netdev = netdevs.find(port.data->number);
  if (netdev == netdevs.end() || netdev->second.empty()) {
    return "";
  }
  const NetdevAttributes& seen = port.data->netdev;
  if (!seen.bond_members) {
    return netdev->second;
  }
  return netdev->second + " (" +
         (seen.bond_members_up ? std::to_string(*seen.bond_members_up) : "?") + " of " +
         std::to_string(*seen.bond_members) + " up)";
}

}  // namespace

std::vector<const PortView*> PortsByProblem(const NodeView& view) {
  std::vector<const PortView*> ports;
  for (const DeviceView& device : view.devices) {
    for (const PortView& port : device.ports) {
      ports.push_back(&port);
    }
  }
  std::sort(ports.begin(), ports.end(), [](const PortView* a, const PortView* b) {
    return std::pair(ProblemRank(*a), PciOrderOf(*a)) < std::pair(ProblemRank(*b), PciOrderOf(*b));
  });
  return ports;
}

std::vector<const DeviceView*> DevicesByProblem(const NodeView& view) {
  std::vector<const DeviceView*> devices;
  for (const DeviceView& device : view.devices) {
    devices.push_back(&device);
  }
  std::sort(devices.begin(), devices.end(), [](const DeviceView* a, const DeviceView* b) {
    return std::pair(ProblemRank(*a), DeviceOrder(*a)) <
           std::pair(ProblemRank(*b), DeviceOrder(*b));
  });
  return devices;
}

std::string PortTable(const std::vector<const PortView*>& ports) {
  std::vector<Row> rows = {{"PORT", "SERVING", "STATE", "PHYSICAL", "GBPS", "EXPECTED", "RX", "TX",
                            "NETDEV", "PCI", "REQUIRED", "FLAPS", "PAUSED"}};
  for (const PortView* port : ports) {
    const PortSnapshot& data = *port->data;
    rows.push_back(
        {port->device->name + "/" + std::to_string(data.number), port->serving ? "yes" : "NO",
         std::string(data.state ? PortStateName(*data.state) : "-") +
             (port->stale ? " (stale)" : ""),
         std::string(data.physical_state ? PhysicalStateName(*data.physical_state) : "-"),
         GbpsText(data.effective_speed_bps), GbpsText(port->expected_speed_bps),
         RateText(data, &StatsSample::rx_bytes_per_second),
         RateText(data, &StatsSample::tx_bytes_per_second), OrDash(NetdevText(*port)),
         OrDash(port->device->identity.pci_address), port->required ? "yes" : "no",
         std::to_string(data.counts.flaps), OrDash(PauseText(*port))});
  }
  return TableOr(rows, "no ports");
}

std::string DeviceTable(const std::vector<const DeviceView*>& devices) {
  std::vector<Row> rows = {{"DEVICE", "STATUS", "PCI", "PCIE", "NUMA", "DRIVER", "FIRMWARE",
                            "BOARD", "NODE_GUID", "DETAIL"}};
  for (const DeviceView* device : devices) {
    const Identity& identity = device->data->identity;
    rows.push_back({device->data->name, std::string(device->status_name()),
                    OrDash(identity.pci_address), OrDash(PcieText(device->data->pcie)),
                    identity.numa_node ? std::to_string(*identity.numa_node) : "-",
                    OrDash(identity.driver), OrDash(identity.firmware_version),
                    OrDash(identity.board_id), OrDash(identity.node_guid),
                    OrDash(DetailText(*device))});
  }
  return TableOr(rows, "no devices");
}

std::string HoldTable(const NodeView& view) {
  std::vector<Row> rows = {{"ID", "DEVICE", "PORT", "SINCE", "UNTIL", "BY", "REASON"}};
  for (const auto& [hold, kept] : view.holds->InForce(view.now)) {
    const bool orphaned = kept->orphaned_since.has_value();
    rows.push_back({hold->id, kept->name + (orphaned ? " (orphaned)" : ""),
                    std::to_string(hold->port.second), Rfc3339(hold->since),
                    TimeOrDash(hold->until), OrDash(hold->by), hold->reason});
  }
  return TableOr(rows, "no holds");
}

std::string EventTable(const EventPage& page) {
  std::vector<Row> rows = {
      {"TIME", "TYPE", "PORT", "CAUSE", "BEFORE", "AFTER", "BY", "HOLD", "UNTIL", "NOTE"}};
  for (const Transition& event : page.events) {
    rows.push_back({Rfc3339(event.time), std::string(TransitionTypeName(event.type)),
                    EventTarget(event), OrDash(event.cause), OrDash(event.before),
                    OrDash(event.after), OrDash(event.by), OrDash(event.hold), OrDash(event.until),
                    OrDash(event.note)});
  }
  return TableOr(rows, "no events") + NextPage(page);
}

std::string AuditTable(const EventPage& page) {
  std::vector<Row> rows = {{"TIME", "ACTION", "PORT", "RESULT", "STATUS", "WHO", "BY", "HOLD",
                            "UNTIL", "HELD_BY", "REASON", "REPLACED"}};
  for (const Transition& event : page.events) {
    rows.push_back({Rfc3339(event.time), OrDash(event.cause), EventTarget(event),
                    OrDash(event.after), std::to_string(event.status), OrDash(event.who),
                    OrDash(event.by), OrDash(event.hold), OrDash(event.until), OrDash(event.before),
                    OrDash(event.note), OrDash(event.replaced)});
  }
  return TableOr(rows, "no operator actions") + NextPage(page);
}

}  // namespace nicmon::http
