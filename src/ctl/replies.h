#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What nicmon answers, read from its JSON; only replies.cc sees the JSON library (slow to
/// compile). What is missing or null is empty: an older or newer nicmon may know less or more.
namespace nicmon::ctl {

struct HoldReply {
  std::string id, device, port, reason, by, since, until;
};

struct ErrorReply {
  std::string code, message, hint;
  std::optional<HoldReply> hold;  // the one that is in the way
};
ErrorReply ParseError(std::string_view body);

struct PauseReply {
  std::string reason, since, until, note, by;
};
struct PortReply {
  std::string device, port, state, physical_state;
  bool serving = false, stale = false, required = false;
  std::optional<double> speed;  // effective, Gb/s
  std::vector<PauseReply> paused;

  std::string Name() const { return device + "/" + port; }
  bool Paused(std::string_view reason) const;
};
/// nullopt: not what was expected.
std::optional<std::vector<PortReply>> ParsePorts(std::string_view body);
std::optional<PortReply> ParsePort(std::string_view body);

struct RequeryReply {
  struct Port {
    std::string verdict;
    PortReply now;
  };
  std::vector<Port> ports;
  std::string query_error;
  double duration_ms = 0;
};
/// Of one port or of a whole device.
std::optional<RequeryReply> ParseRequery(std::string_view body);

struct ProbeReply {
  struct Step {
    std::string name;
    double duration_ms = 0;
  };
  std::string device, port, result, failed_step, error, hint;
  std::string gid_index, gid_type, gid_netdev;  // of the GID in use; empty: none, or not told
  double duration_ms = 0;
  std::vector<Step> steps;          // as far as it came
  std::vector<std::string> events;  // what the hardware said meanwhile

  bool ok() const { return result == "ok"; }
};
std::optional<ProbeReply> ParseProbe(std::string_view body);

struct ChangeReply {
  bool changed = false;
  std::optional<HoldReply> hold;
  std::optional<HoldReply> replaced;  // by `hold`
  std::string effect;
};
/// Of pause and resume.
std::optional<ChangeReply> ParseChange(std::string_view body);

struct BaselineReply {
  std::string device, port;
  std::optional<double> now, before;  // Gb/s
};
std::optional<BaselineReply> ParseBaseline(std::string_view body);

struct ForgetReply {
  std::string device, port;
  bool changed = false;
  bool device_forgotten = false;  // it is not watched any more
};
std::optional<ForgetReply> ParseForget(std::string_view body);

struct LevelReply {
  std::string now, before;
};
std::optional<LevelReply> ParseLevel(std::string_view body);

struct DeviceStatusReply {
  std::string device, status;
  std::optional<HoldReply> replaced;  // a release that gave way to the new one: no id, no port
};
struct ReleaseReply {
  std::vector<DeviceStatusReply> devices;
  std::string until;
};
/// Of release and reopen, of one device or of all.
std::optional<ReleaseReply> ParseRelease(std::string_view body);

struct SelectReply {
  struct Port {
    std::string name, netdev, pci_address, numa_node;
    std::optional<double> speed, estimate;  // Gb/s
  };
  std::vector<Port> ports;
};
std::optional<SelectReply> ParseSelect(std::string_view body);

struct EventReply {
  std::string time, type, device, port, cause, before, after, note, by;
};
/// The data of one event of the stream.
struct StreamReply {
  std::optional<EventReply> event;
  std::vector<PortReply> ports;  // all of them in a snapshot, else the one that changed
  bool snapshot = false;
};
std::optional<StreamReply> ParseStream(std::string_view data);

struct NodeReply {
  std::string node, discovery_note;
  bool discovered = false, ready = false, simulated = false;
  uint64_t ports = 0, ports_up = 0, ports_serving = 0;
};
/// Of /api/v1/node, and of /readyz as far as it goes.
std::optional<NodeReply> ParseNode(std::string_view body);

/// "400", "2.5"; "-" when unknown.
std::string GbpsText(const std::optional<double>& gbps);
/// Why it does not serve, in a few words: "down", "held (bad cable)", "active, stale".
std::string WhyNotServing(const PortReply& port);

}  // namespace nicmon::ctl
