#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "http/about.h"
#include "nicmon/http/backend.h"

/// Everything that is JSON, so that only json_*.cc see the JSON library (slow to compile). Texts
/// end without a newline; bytes that are not UTF-8 come out as U+FFFD.
namespace nicmon::http::json {

std::string Error(std::string_view code, std::string_view message, std::string_view hint);
/// An error with the hold that is in the way, under "hold".
std::string HeldError(std::string_view code, std::string_view message, std::string_view hint,
                      const Hold& hold, const std::string& device, bool orphaned);

/// A flat object; nullptr is null, a nested string of JSON is not possible.
using Value = std::variant<std::nullptr_t, bool, uint64_t, double, std::string>;
std::string Object(const std::vector<std::pair<std::string, Value>>& members);

std::string Node(const NodeView& view, const About& about);
std::string Ready(const NodeView& view);
std::string Devices(const NodeView& view);
std::string Device(const DeviceView& device);
std::string Ports(const NodeView& view);
std::string Port(const PortView& port);
std::string HoldList(const NodeView& view);
std::string Events(const EventPage& page);
std::string AuditList(const EventPage& page);

// The event stream (stream_hub.h).

/// A node, device or port for the stream. `stable` leaves out what changes by itself, to compare
/// with.
struct Rendered {
  std::string text, stable;
};
Rendered StreamNode(const NodeView& view, const About& about);
Rendered StreamPort(const PortView& port);
Rendered StreamDevice(const DeviceView& device);
/// The holds in force, by id.
std::map<std::string, std::string> StreamHolds(const NodeView& view);
/// Everything, as of the record `seq`.
std::string StreamSnapshot(const NodeView& view, const About& about, uint64_t seq);
/// {"event":…,"KEY":…}: the record (nullptr: none) and a state given as JSON (empty: null).
std::string StreamChange(const Transition* event, std::string_view key, std::string_view state);
/// The same for a hold, with its id (empty: null), since one that has ended has no state.
std::string StreamHoldChange(const Transition* event, const std::string& id,
                             std::string_view state);

/// Reply of pause: the hold, the one that gave way to it (or nullptr), its end, whether it survives
/// a restart and what it does.
std::string Paused(const Hold& hold, const Hold* replaced, const std::string& device, bool durable,
                   std::string_view effect);
/// Reply of resume and DELETE; `hold` may be nullptr.
std::string Resumed(bool changed, const Hold* hold, const std::string& device);

/// Reply of requery for one port; nullptr where a snapshot does not have it.
struct PortChange {
  uint32_t port = 0;
  const PortView* before = nullptr;
  const PortView* after = nullptr;
  std::string verdict;
};
bool Changed(const PortView* before, const PortView* after);
std::string PortRequery(const std::string& device, const PortChange& change, double duration_ms,
                        const std::string& query_error);
std::string DeviceRequery(const std::string& device, const std::vector<PortChange>& changes,
                          double duration_ms, const std::string& query_error);

/// Reply of probe.
std::string Probe(const std::string& device, uint32_t port, const ProbeResult& result);

/// What became of a device that was released or opened again.
struct DeviceStatus {
  std::string device, status;
  const Release* replaced = nullptr;  // of a release: the one that gave way to it, if any
};
/// Reply of release of one device and of all.
std::string Released(const DeviceStatus& device, WallTime until);
std::string ReleasedAll(std::string_view status, const std::vector<DeviceStatus>& devices,
                        WallTime until);
/// Reply of reopen of all devices.
std::string ReopenedAll(std::string_view status, const std::vector<DeviceStatus>& devices);

std::string Selection(const std::vector<const PortView*>& ports, std::optional<uint64_t> requested,
                      size_t available);

/// A flat object of scalars as parameters. Empty result text on success, else one line.
std::string ParseParameters(std::string_view body,
                            std::vector<std::pair<std::string, std::string>>* out);

/// The body of POST /api/v1/simulator, one object or a list. Empty on success, else one line.
std::string ParseSimulatorCommands(std::string_view body, std::vector<SimCommand>* out);

}  // namespace nicmon::http::json
