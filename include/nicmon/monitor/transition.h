#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/clock.h"

namespace nicmon {

/// What a record of the history is about.
enum class TransitionType {
  kLink,      // the logical state of a port, also a loss that was over before it was asked
  kSpeed,     // effective speed
  kGid,       // the chosen GID
  kLid,       // InfiniBand
  kDevice,    // status of a device, its name, a thread that is stuck
  kMismatch,  // events and queries contradict each other
  kHold,      // an operator's hold or release began or ended
  kAudit,     // an operator's request, also one that was refused; never shown with the others
};
/// "link", "speed", …
std::string_view TransitionTypeName(TransitionType type);
std::optional<TransitionType> TransitionTypeFromName(std::string_view name);

/// Of an audit record: the action was about every device of the node.
inline constexpr std::string_view kAllDevices = "all";

/// One thing that happened. Empty text: does not apply, or unknown.
struct Transition {
  uint64_t seq = 0;  // by the journal: ascending, also over restarts while the history is kept
  WallTime time{};
  TransitionType type = TransitionType::kLink;
  std::string device;  // its name then; empty: the node; audit: may be kAllDevices
  uint32_t port = 0;   // 0: the whole device
  std::string cause;   // "event", "tick", "admin"; of an audit record the action
  std::string before, after;
  std::string note;      // one line: details, or the reason an operator gave
  std::string by;        // who an operator says to be
  std::string who;       // audit: who it was for sure, "uid=0" or "token=ops"
  std::string hold;      // id of a hold
  std::string until;     // end of a hold or release; empty: none
  int status = 0;        // audit: of the reply
  std::string replaced;  // audit: the holds and releases that gave way to it, one line
};

/// Where records go. Any thread; never blocks, a record that finds no room is counted as dropped.
using RecordTransition = std::function<void(Transition)>;

/// Which records to read, newest first. An audit record is found by whatever it was about: a device
/// by what was done to all of them too, a port by what was done to its whole device.
struct EventQuery {
  bool audit = false;  // only audit records; else all but those
  size_t limit = 100;
  std::optional<uint64_t> before_seq;  // the cursor
  std::optional<WallTime> since;       // not older
  std::optional<WallTime> before;      // older
  std::string device;
  std::optional<uint32_t> port;
  std::optional<TransitionType> type;
};

struct EventPage {
  std::vector<Transition> events;
  std::optional<uint64_t> next;  // before_seq of the next page; nullopt: there is none
  bool failed = false;           // the history could not be read
};

/// Whether a query's conditions, all but its limit, hold for a record.
bool Matches(const EventQuery& query, const Transition& event);

}  // namespace nicmon
