#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "nicmon/monitor/view.h"
#include "testing/stats.h"

namespace nicmon::test {

/// 2026-01-31T12:00:00Z plus `seconds`.
inline WallTime At(double seconds) {
  return WallTime(std::chrono::seconds(1769860800)) +
         std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

/// A device and its ports as a test wants readers to see them, without a monitor. Defaults: an open
/// device with one healthy Ethernet port at 400 Gb/s, before the first round of counters.
struct DeviceSpec {
  explicit DeviceSpec(std::string name, uint32_t port_count = 1) {
    data.name = std::move(name);
    data.status = DeviceStatus::kOpen;
    data.identity.node_guid = "0c42:a103:0065:4ba2";
    data.identity.pci_address = "0000:3b:00.0";
    for (uint32_t number = 1; number <= port_count; ++number) {
      data.ports.push_back(HealthyPort(number));
      PortView view;
      view.up = view.serving = view.required = true;
      view.baseline_speed_bps = 400'000'000'000;
      ports.push_back(view);
    }
  }

  static PortSnapshot HealthyPort(uint32_t number) {
    PortSnapshot port;
    port.number = number;
    port.state = kStateActive;
    port.physical_state = kPhysicalLinkUp;
    port.link_layer = "Ethernet";
    port.effective_speed_bps = 400'000'000'000;
    port.nominal_speed_bps = 400'000'000'000;
    port.speed_source = SpeedSource::kEncoded;
    port.lanes = 4;
    port.mtu_bytes = 4096;
    port.gid = Gid{3, {0xfe, 0x80}, 2, "eth2"};
    port.estimate_bytes_per_second = 5e10;
    return port;
  }

  DeviceSnapshot data;
  std::vector<PortView> ports;  // by index of data.ports; device and data are filled in
  bool stalled = false;
  Duration snapshot_age = std::chrono::milliseconds(250);
};

/// What BuildView would give for these devices, as far as it depends on them alone.
inline NodeView View(const std::vector<DeviceSpec>& specs) {
  NodeView node;
  node.node_name = "node1";
  node.now = At(0);
  node.discovered = true;
  node.holds = std::make_shared<HoldsSnapshot>();
  for (const DeviceSpec& spec : specs) {
    DeviceView device;
    device.data = std::make_shared<DeviceSnapshot>(spec.data);
    device.stalled = spec.stalled;
    device.snapshot_age = spec.snapshot_age;
    for (size_t i = 0; i < spec.ports.size(); ++i) {
      PortView port = spec.ports[i];
      port.device = device.data;
      port.data = &device.data->ports.at(i);
      node.ports += 1;
      node.ports_up += port.up ? 1 : 0;
      node.ports_serving += port.serving ? 1 : 0;
      node.ports_held += port.hold != nullptr ? 1 : 0;
      node.ports_required += port.required ? 1 : 0;
      device.ports.push_back(std::move(port));
    }
    node.devices.push_back(std::move(device));
  }
  return node;
}

/// A healthy device with all that sysfs has of one: the counters of a current kernel (which knows
/// no port_rcv_discards), PCIe link and netdev.
inline DeviceSpec DeviceWithCounters(const std::string& name) {
  DeviceSpec spec(name);
  spec.data.pcie = {32e9, 32e9, 16, 16};
  spec.data.ports[0].stats = StatsSpec::All("nicmon_port_discards_received_total").Build();
  spec.data.ports[0].netdev.carrier_changes = 2;
  spec.ports[0].stats_age = std::chrono::milliseconds(1500);
  return spec;
}

/// A device that has every series there can be: each attribute known, each event seen, its port
/// held, a bond, each counter and as many of the driver's own as are read, and a reason for not
/// being open.
inline DeviceSpec FullestDevice(const std::string& name) {
  static const Hold hold = {"h1", {1, 1}, "mlx5_0", "bad cable", "ops", At(-60), At(3600)};
  DeviceSpec spec = DeviceWithCounters(name);
  spec.data.status = DeviceStatus::kFatal;
  spec.data.identity = {"0c42:a103:0065:4ba2",
                        "0c42:a103:0065:4ba2",
                        "MT_0000000838",
                        "MT4129",
                        "28.39.1002",
                        "mlx5_core",
                        "0000:3b:00.0",
                        1,
                        "CA",
                        DeviceFunction::kPhysical,
                        {{1, "eth2"}}};
  spec.data.events.fill(1);
  spec.data.stats = StatsSpec().FullOfDriverStats().Build();
  PortSnapshot& port = spec.data.ports[0];
  port.lid = 17;
  port.sm_lid = 1;
  port.last_change = At(-5);
  port.stats = StatsSpec::All().FullOfDriverStats().Build();
  port.netdev = {2, 2, 1};
  PortView& view = spec.ports[0];
  view.expected_speed_bps = 400'000'000'000;
  view.hold = &hold;
  return spec;
}

}  // namespace nicmon::test
