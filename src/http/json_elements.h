#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "http/about.h"
#include "nicmon/monitor/transition.h"
#include "nicmon/monitor/view.h"

/// What the documents of json.h are made of. For json_*.cc only. Unknown is null.
namespace nicmon::http::json {

using Json = nlohmann::ordered_json;

std::string Text(const Json& json);

Json Str(std::string_view text);  // null when empty
template <typename T>
Json Opt(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json Time(const std::optional<WallTime>& time);
/// Whole numbers without a fraction: 400, but 2.5.
Json Gbps(const std::optional<uint64_t>& bps);
Json GbpsOf(const std::optional<double>& bytes_per_second);

/// By sysfs, else as the GID table has it; empty when unknown.
std::string Netdev(const PortView& port);

Json GidJson(const Gid& gid);
Json NodeJson(const NodeView& view, const About& about);
Json PortJson(const PortView& port);
Json DeviceJson(const DeviceView& device);
Json HoldJson(const Hold& hold, const std::string& device, bool orphaned);
/// With what is known of its device.
Json KeptHoldJson(const HoldsSnapshot::Item& item);
Json EventJson(const Transition& event);

}  // namespace nicmon::http::json
