#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "http/message.h"
#include "nicmon/monitor/view.h"

namespace nicmon::http {

/// The device that `name` names: by name, else by PCI address, node GUID or netdev if that names
/// exactly one (409 with the candidates otherwise). The pointer is into `view`.
Expected<const DeviceView*> FindDevice(const NodeView& view, const std::string& name);

/// A port number that may belong to the device: one it has, or 1 … 255 while none is known (a
/// device that hangs in its first open has shown no port yet).
Expected<uint32_t> FindPortNumber(const DeviceView& device, const std::string& port);

/// 404 when the device has no such port.
Expected<const PortView*> FindPort(const DeviceView& device, const std::string& port);

/// Order of PCI addresses by number, devices without one last, then by name and port.
using PciOrder = std::tuple<bool, uint64_t, std::string, uint32_t>;
PciOrder PciOrderOf(const PortView& port);

}  // namespace nicmon::http
