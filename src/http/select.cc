#include <algorithm>

#include "http/json.h"
#include "http/lookup.h"
#include "http/refusals.h"
#include "http/routes.h"
#include "http/text.h"

namespace nicmon::http {
namespace {

/// A whole number parameter; an empty optional when it was not given.
Expected<std::optional<uint64_t>> Number(const Call& call, const std::string& name, uint64_t min) {
  const std::string* text = call.Find(name);
  if (text == nullptr) {
    return std::optional<uint64_t>();
  }
  const auto number = ParseNumber(*text);
  if (!number || *number < min || *number > 1'000'000) {
    return InvalidParameter(
        name + " is no number that can be taken",
        name + " is a whole number from " + std::to_string(min) + " to 1000000");
  }
  return number;
}

/// Why nothing can be selected, in one line for a header.
std::string WhyNone(const NodeView& view, const std::optional<uint64_t>& numa) {
  if (view.ports_serving > 0 && numa) {
    return "no port on NUMA node " + std::to_string(*numa) + " serves";
  }
  if (!view.discovered) {
    return "the first discovery pass is not over";
  }
  if (view.ports == 0) {
    return view.discovery_note.empty() ? "no port is known" : view.discovery_note;
  }
  return "none of " + std::to_string(view.ports) +
         " ports serves: " + std::to_string(view.ports_up) + " up, " +
         std::to_string(view.ports_held) + " held";
}

Reply None(const NodeView& view, const std::optional<uint64_t>& numa) {
  Reply reply;
  reply.status = 503;
  reply.headers.emplace_back("X-Nicmon-Reason", Printable(WhyNone(view, numa)));
  reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

std::vector<const PortView*> Serving(const NodeView& view, const std::optional<uint64_t>& numa,
                                     bool by_estimate) {
  std::vector<const PortView*> ports;
  for (const DeviceView& device : view.devices) {
    const auto& node = device.data->identity.numa_node;
    for (const PortView& port : device.ports) {
      if (port.serving &&
          (!numa || (node && *node >= 0 && static_cast<uint64_t>(*node) == *numa))) {
        ports.push_back(&port);
      }
    }
  }
  const auto key = [by_estimate](const PortView* port) {
    // Ports without an estimate come last, they are not known to be free.
    const double free = by_estimate ? port->data->estimate_bytes_per_second.value_or(-1) : 0;
    return std::pair(-free, PciOrderOf(*port));
  };
  std::sort(ports.begin(), ports.end(),
            [&](const PortView* a, const PortView* b) { return key(a) < key(b); });
  return ports;
}

std::string List(const std::vector<const PortView*>& ports, std::string_view prefix) {
  std::string line(prefix);
  for (const PortView* port : ports) {
    line += (port == ports.front() ? "" : ",") + port->device->name + ":" +
            std::to_string(port->data->number);
  }
  return line + "\n";
}

}  // namespace

Reply GetSelect(Call& call) {
  auto count = Number(call, "count", 1);
  if (!count) {
    return count.error;
  }
  auto numa = Number(call, "numa", 0);
  if (!numa) {
    return numa.error;
  }
  const std::string* sort = call.Find("sort");
  if (sort != nullptr && *sort != "pci" && *sort != "estimate") {
    return InvalidParameter("sort is not known", "sort=pci or estimate");
  }
  const std::string* format = call.Find("format");
  if (format != nullptr && *format != "json" && *format != "nccl" && *format != "ucx") {
    return InvalidParameter("format is not known", "format=json, nccl or ucx");
  }
  const NodeView view = call.service.backend.view();
  auto ports = Serving(view, *numa, sort != nullptr && *sort == "estimate");
  if (ports.empty()) {
    return None(view, *numa);
  }
  const size_t available = ports.size();
  if (*count && **count < available) {
    ports.resize(**count);
  }
  Reply reply;
  if (format == nullptr || *format == "json") {
    reply = JsonReply(200, json::Selection(ports, *count, available));
  } else {
    // NCCL takes names as prefixes unless the list starts with '=': mlx5_1 would match mlx5_10.
    reply = TextReply(200, List(ports, *format == "nccl" ? "=" : ""));
  }
  reply.headers.emplace_back("X-Nicmon-Count", std::to_string(ports.size()));
  return reply;
}

}  // namespace nicmon::http
