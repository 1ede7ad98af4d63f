#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/device/port_values.h"
#include "nicmon/monitor/view.h"

namespace nicmon {
namespace {

/// Ports that are named; a note is a line.
constexpr size_t kMost = 16;

/// "mlx5_1/1 down"; where it has no state what its device is: "mlx5_1/1 absent".
std::string Named(const DeviceView& device, const PortView& port) {
  const std::optional<int>& state = port.data->state;
  return device.data->name + "/" + std::to_string(port.data->number) + " " +
         std::string(state && !device.stalled ? PortStateName(*state) : device.status_name());
}

/// Required ones first: they were up before.
std::vector<std::string> NotUp(const NodeView& view) {
  std::vector<std::string> required, others;
  for (const DeviceView& device : view.devices) {
    for (const PortView& port : device.ports) {
      if (!port.up) {
        (port.required ? required : others).push_back(Named(device, port));
      }
    }
    if (device.ports.empty()) {
      others.push_back(device.data->name + " " + std::string(device.status_name()));
    }
  }
  for (const std::string& port : view.awaited) {
    required.push_back(port + " not seen since the start");
  }
  required.insert(required.end(), others.begin(), others.end());
  return required;
}

std::string List(const std::vector<std::string>& items) {
  std::string text;
  for (size_t i = 0; i < std::min(items.size(), kMost); ++i) {
    text += (text.empty() ? "" : ", ") + items[i];
  }
  return items.size() > kMost ? text + " and " + std::to_string(items.size() - kMost) + " more"
                              : text;
}

}  // namespace

std::string WhyNotReady(const NodeView& view) {
  if (view.Ready()) {
    return "";
  }
  if (!view.discovered) {
    return "the first look for devices is not over";
  }
  const std::vector<std::string> not_up = NotUp(view);
  return std::to_string(view.ports_up) + " of " + std::to_string(*view.expected_ports) +
         " expected ports up: " + (not_up.empty() ? "no more are known" : List(not_up));
}

}  // namespace nicmon
