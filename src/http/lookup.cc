#include "http/lookup.h"

#include <algorithm>
#include <charconv>
#include <vector>

#include "http/text.h"

namespace nicmon::http {
namespace {

bool HasNetdev(const DeviceView& device, const std::string& name) {
  for (const auto& [port, netdev] : device.data->identity.netdev) {
    if (netdev == name) {
      return true;
    }
  }
  return std::any_of(
      device.data->ports.begin(), device.data->ports.end(),
      [&](const PortSnapshot& port) { return port.gid && port.gid->netdev == name; });
}

std::string Names(const std::vector<const DeviceView*>& devices) {
  std::string names;
  for (const DeviceView* device : devices) {
    names += (names.empty() ? "" : ", ") + device->data->name;
  }
  return names;
}

Reply UnknownDevice(const NodeView& view, const std::string& name) {
  std::vector<const DeviceView*> all;
  for (const DeviceView& device : view.devices) {
    all.push_back(&device);
  }
  return ErrorReply(404, "unknown_device", "there is no device " + name,
                    all.empty() ? "no device is known on this node" : "known: " + Names(all));
}

Expected<const DeviceView*> DeviceNamed(const NodeView& view, const std::string& name) {
  std::vector<const DeviceView*> found;
  for (const DeviceView& device : view.devices) {
    if (device.data->name == name) {
      return &device;
    }
  }
  const std::string lower = Lower(name);
  for (const DeviceView& device : view.devices) {
    const Identity& identity = device.data->identity;
    const auto is = [&](const std::string& value) { return !value.empty() && value == lower; };
    if (is(Lower(identity.pci_address)) || is(Lower(identity.node_guid)) ||
        HasNetdev(device, name)) {
      found.push_back(&device);
    }
  }
  if (found.empty() || name.empty()) {
    return UnknownDevice(view, name);
  }
  if (found.size() > 1) {
    return ErrorReply(409, "ambiguous_device", name + " names several devices",
                      "use one of these names: " + Names(found));
  }
  return found.front();
}

Expected<const PortView*> PortNumbered(const DeviceView& device, const std::string& port) {
  const auto number = ParseNumber(port);
  std::string known;
  for (const PortView& candidate : device.ports) {
    if (number == candidate.data->number) {
      return &candidate;
    }
    known += (known.empty() ? "" : ", ") + std::to_string(candidate.data->number);
  }
  return ErrorReply(404, "unknown_port", device.data->name + " has no port " + port,
                    known.empty() ? "no port of this device has been seen yet" : "known: " + known);
}

}  // namespace

Expected<const DeviceView*> FindDevice(Call& call, const NodeView& view) {
  auto device = DeviceNamed(view, call.segments["device"]);
  if (device) {
    call.audit.device = (*device)->data->name;
  }
  return device;
}

std::string NameNow(const NodeView& view, const std::string& name) {
  auto device = DeviceNamed(view, name);
  return device ? (*device)->data->name : name;
}

Expected<const PortView*> FindPort(Call& call, const NodeView& view) {
  auto device = FindDevice(call, view);
  return device ? PortNumbered(**device, call.segments["port"]) : device.error;
}

Expected<Target> FindTarget(Call& call, const NodeView& view) {
  auto device = FindDevice(call, view);
  if (!device) {
    return device.error;
  }
  const std::string& asked = call.segments["port"];
  const auto number = ParseNumber(asked);
  Target target{*device, 0};
  if ((*device)->ports.empty() && number && *number >= 1 && *number <= 255) {
    target.port = static_cast<uint32_t>(*number);
  } else if (auto port = PortNumbered(**device, asked)) {
    target.port = (*port)->data->number;
  } else {
    return port.error;
  }
  call.audit.port = std::to_string(target.port);
  return target;
}

PciOrder PciOrderOf(const PortView& port) {
  // "0000:3b:00.0": four hex numbers, each with its own separator behind it.
  const std::string& address = port.device->identity.pci_address;
  const char* at = address.data();
  const char* const end = at + address.size();
  uint64_t order = 0;
  bool known = !address.empty();
  for (const char separator : {':', ':', '.', '\0'}) {
    uint32_t part = 0;
    const auto [stop, error] = std::from_chars(at, end, part, 16);
    const bool last = separator == '\0';
    if (error != std::errc() || part > 0xffff || (last ? stop != end : stop == end) ||
        (!last && *stop != separator)) {
      known = false;
      break;
    }
    order = order << 16 | part;
    at = last ? stop : stop + 1;
  }
  return {!known, known ? order : 0, port.device->name, port.data->number};
}

}  // namespace nicmon::http
