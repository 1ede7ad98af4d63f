#include "ctl/replies.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>

#include "nicmon/base/text.h"

namespace nicmon::ctl {
namespace {

using Json = nlohmann::json;

Json Parse(std::string_view body) {
  return Json::parse(body, nullptr, false);  // no exceptions: what is malformed is "discarded"
}

const Json& Member(const Json& json, const char* key) {
  static const Json kNone;
  if (!json.is_object()) {
    return kNone;
  }
  const auto found = json.find(key);
  return found == json.end() ? kNone : *found;
}

/// A text or number as one line fit for a terminal.
std::string Line(const Json& value) {
  if (value.is_string()) {
    return CleanLine(value.get_ref<const std::string&>());
  }
  return value.is_number() ? value.dump() : "";
}

std::string Str(const Json& json, const char* key) {
  return Line(Member(json, key));
}

bool Bool(const Json& json, const char* key) {
  const Json& value = Member(json, key);
  return value.is_boolean() && value.get<bool>();
}

std::optional<double> Number(const Json& json, const char* key) {
  const Json& value = Member(json, key);
  return value.is_number() ? std::optional(value.get<double>()) : std::nullopt;
}

std::optional<uint64_t> Count(const Json& json, const char* key) {
  const Json& value = Member(json, key);
  return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
}

std::optional<HoldReply> HoldOf(const Json& json) {
  if (!json.is_object()) {
    return std::nullopt;
  }
  return HoldReply{Str(json, "id"), Str(json, "device"), Str(json, "port"), Str(json, "reason"),
                   Str(json, "by"), Str(json, "since"),  Str(json, "until")};
}

PortReply PortOf(const Json& json) {
  PortReply port{Str(json, "device"),
                 Str(json, "port"),
                 Str(json, "state"),
                 Str(json, "physical_state"),
                 Bool(json, "serving"),
                 Bool(json, "stale"),
                 Bool(json, "required"),
                 Number(json, "effective_speed_gbps"),
                 {}};
  for (const Json& pause : Member(json, "paused")) {
    port.paused.push_back({Str(pause, "reason"), Str(pause, "since"), Str(pause, "until"),
                           Str(pause, "note"), Str(pause, "by")});
  }
  return port;
}

DeviceStatusReply StatusOf(const Json& json) {
  return {Str(json, "device"), Str(json, "status"), HoldOf(Member(json, "replaced"))};
}

RequeryReply::Port RequeriedPort(const Json& json) {
  return {Str(json, "verdict"), PortOf(Member(json, "after"))};
}

}  // namespace

ErrorReply ParseError(std::string_view body) {
  const Json json = Parse(body);
  const Json& error = Member(json, "error");
  return {Str(error, "code"), Str(error, "message"), Str(error, "hint"),
          HoldOf(Member(json, "hold"))};
}

bool PortReply::Paused(std::string_view reason) const {
  return std::any_of(paused.begin(), paused.end(),
                     [&](const PauseReply& pause) { return pause.reason == reason; });
}

std::optional<std::vector<PortReply>> ParsePorts(std::string_view body) {
  const Json json = Parse(body);
  const Json& list = Member(json, "ports");
  if (!list.is_array()) {
    return std::nullopt;
  }
  std::vector<PortReply> ports;
  for (const Json& port : list) {
    ports.push_back(PortOf(port));
  }
  return ports;
}

std::optional<PortReply> ParsePort(std::string_view body) {
  const Json json = Parse(body);
  return json.is_object() ? std::optional(PortOf(json)) : std::nullopt;
}

std::optional<RequeryReply> ParseRequery(std::string_view body) {
  const Json json = Parse(body);
  if (!json.is_object()) {
    return std::nullopt;
  }
  RequeryReply reply;
  reply.query_error = Str(json, "query_error");
  reply.duration_ms = Number(json, "duration_ms").value_or(0);
  const Json& list = Member(json, "ports");
  if (!list.is_array()) {
    reply.ports.push_back(RequeriedPort(json));
  }
  for (const Json& port : list) {
    reply.ports.push_back(RequeriedPort(port));
  }
  return reply;
}

std::optional<ProbeReply> ParseProbe(std::string_view body) {
  const Json json = Parse(body);
  const Json& steps = Member(json, "steps");
  if (!steps.is_array()) {
    return std::nullopt;
  }
  const Json& gid = Member(json, "gid");
  ProbeReply reply{Str(json, "device"),
                   Str(json, "port"),
                   Str(json, "result"),
                   Str(json, "failed_step"),
                   Str(json, "error"),
                   Str(json, "hint"),
                   Str(gid, "index"),
                   Str(gid, "type"),
                   Str(gid, "netdev"),
                   Number(json, "duration_ms").value_or(0),
                   {},
                   {}};
  for (const Json& step : steps) {
    reply.steps.push_back({Str(step, "step"), Number(step, "duration_ms").value_or(0)});
  }
  for (const Json& event : Member(json, "events")) {
    reply.events.push_back(Line(event));
  }
  return reply;
}

std::optional<ChangeReply> ParseChange(std::string_view body) {
  const Json json = Parse(body);
  if (!json.is_object()) {
    return std::nullopt;
  }
  return ChangeReply{Bool(json, "changed"), HoldOf(Member(json, "hold")),
                     HoldOf(Member(json, "replaced")), Str(json, "effect")};
}

std::optional<BaselineReply> ParseBaseline(std::string_view body) {
  const Json json = Parse(body);
  if (!json.is_object()) {
    return std::nullopt;
  }
  return BaselineReply{Str(json, "device"), Str(json, "port"), Number(json, "baseline_speed_gbps"),
                       Number(json, "previous_baseline_speed_gbps")};
}

std::optional<ForgetReply> ParseForget(std::string_view body) {
  const Json json = Parse(body);
  if (!json.is_object()) {
    return std::nullopt;
  }
  return ForgetReply{Str(json, "device"), Str(json, "port"), Bool(json, "changed"),
                     Bool(json, "device_forgotten")};
}

std::optional<LevelReply> ParseLevel(std::string_view body) {
  const Json json = Parse(body);
  return json.is_object() ? std::optional(LevelReply{Str(json, "level"), Str(json, "previous")})
                          : std::nullopt;
}

std::optional<ReleaseReply> ParseRelease(std::string_view body) {
  const Json json = Parse(body);
  if (!json.is_object()) {
    return std::nullopt;
  }
  ReleaseReply reply;
  reply.until = Str(json, "until");
  const Json& list = Member(json, "devices");
  if (!list.is_array()) {
    reply.devices.push_back(StatusOf(json));
  }
  for (const Json& device : list) {
    reply.devices.push_back(StatusOf(device));
  }
  return reply;
}

std::optional<SelectReply> ParseSelect(std::string_view body) {
  const Json json = Parse(body);
  const Json& list = Member(json, "ports");
  if (!list.is_array()) {
    return std::nullopt;
  }
  SelectReply reply;
  for (const Json& port : list) {
    reply.ports.push_back({Str(port, "device") + "/" + Str(port, "port"), Str(port, "netdev"),
                           Str(port, "pci_address"), Str(port, "numa_node"),
                           Number(port, "effective_speed_gbps"), Number(port, "estimate_gbps")});
  }
  return reply;
}

std::optional<StreamReply> ParseStream(std::string_view data) {
  const Json json = Parse(data);
  if (!json.is_object()) {
    return std::nullopt;
  }
  StreamReply reply;
  const Json& event = Member(json, "event");
  if (event.is_object()) {
    reply.event = EventReply{Str(event, "time"),  Str(event, "type"),  Str(event, "device"),
                             Str(event, "port"),  Str(event, "cause"), Str(event, "before"),
                             Str(event, "after"), Str(event, "note"),  Str(event, "by")};
  }
  const Json& all = Member(json, "ports");
  reply.snapshot = all.is_array();
  for (const Json& port : all) {
    reply.ports.push_back(PortOf(port));
  }
  if (Member(json, "port").is_object()) {
    reply.ports.push_back(PortOf(Member(json, "port")));
  }
  return reply;
}

std::optional<NodeReply> ParseNode(std::string_view body) {
  const Json json = Parse(body);
  if (!json.is_object()) {
    return std::nullopt;
  }
  NodeReply node;
  node.node = Str(json, "node");
  node.discovery_note = Str(json, Member(json, "note").is_string() ? "note" : "discovery_note");
  node.discovered = Bool(json, "discovered");
  node.ready = Bool(json, "ready");
  node.simulated = Bool(json, "simulated");
  node.ports = Count(json, "ports").value_or(0);
  node.ports_up = Count(json, "ports_up").value_or(0);
  node.ports_serving = Count(json, "ports_serving").value_or(0);
  return node;
}

std::string GbpsText(const std::optional<double>& gbps) {
  if (!gbps) {
    return "-";
  }
  std::array<char, 32> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), *gbps);
  return {buffer.data(), end.ptr};
}

std::string WhyNotServing(const PortReply& port) {
  std::string why;
  for (const PauseReply& pause : port.paused) {
    why += (why.empty() ? "" : ", ") + (pause.reason == "admin" ? "held" : pause.reason);
    why += pause.note.empty() ? "" : " (" + pause.note + ")";
  }
  if (why.empty() || why == "link") {
    // Of a port that is down the state says more than that its link is.
    why = port.state.empty()                       ? "state unknown"
          : port.state == "active" && !why.empty() ? why
                                                   : port.state;
  }
  return port.stale ? why + ", stale" : why;
}

}  // namespace nicmon::ctl
