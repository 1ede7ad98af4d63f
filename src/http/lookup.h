#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <tuple>

#include "http/message.h"
#include "http/service.h"
#include "nicmon/monitor/view.h"

namespace nicmon::http {

/// What a request for one port is about. Also ports of devices that never opened can be held.
struct Target {
  const DeviceView* device = nullptr;  // into the view
  uint32_t port = 0;

  const std::string& name() const { return device->data->name; }
  PortKey key() const { return {device->data->id, port}; }
};

// These look up what the path names ({device}, {port}), and note it for the action's record.
// Pointers are into `view`.

/// By name, else by PCI address, node GUID or netdev if that names exactly one: else 409 with the
/// candidates. 404 when there is none.
Expected<const DeviceView*> FindDevice(Call& call, const NodeView& view);

/// What the device is called that `name` means in any of these ways, or `name`: then it means none,
/// or several.
std::string NameNow(const NodeView& view, const std::string& name);

/// 404 when the device has no such port.
Expected<const PortView*> FindPort(Call& call, const NodeView& view);

/// A port that may belong to the device: one it has, or 1 … 255 while none is known (a device that
/// hangs in its first open has shown no port yet).
Expected<Target> FindTarget(Call& call, const NodeView& view);

/// Order of PCI addresses by number, devices without one last, then by name and port.
using PciOrder = std::tuple<bool, uint64_t, std::string, uint32_t>;
PciOrder PciOrderOf(const PortView& port);

}  // namespace nicmon::http
