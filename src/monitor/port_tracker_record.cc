// PortTracker, what it tells the history.
#include <cstdio>
#include <utility>

#include "nicmon/monitor/port_tracker.h"

namespace nicmon {
namespace {

std::string SecondsText(Duration duration) {
  std::array<char, 32> text;
  const double seconds = std::chrono::duration<double>(duration).count();
  const int size = std::snprintf(text.data(), text.size(), "%.3f s", seconds);
  return std::string(text.data(), static_cast<size_t>(size));
}

std::string StateText(const std::optional<int>& state) {
  return state ? std::string(PortStateName(*state)) : "";
}

}  // namespace

void PortTracker::Record(TransitionType type, std::string cause, std::string before,
                         std::string after, std::string note, Now now) {
  if (!context_.record) {
    return;
  }
  Transition event;
  event.time = now.wall;
  event.type = type;
  event.device = context_.device;
  event.port = data_.number;
  event.cause = std::move(cause);
  event.before = std::move(before);
  event.after = std::move(after);
  event.note = std::move(note);
  context_.record(std::move(event));
}

/// One record for all that one look at the port has shown, so that a loss is not told twice (by its
/// event and by the state), and one that was over before the query is told at all.
void PortTracker::RecordLink(QuerySource source, Now now) {
  const LinkChange change = std::exchange(link_change_, {});
  std::string note;
  if (change.seen_first) {
    note = "first seen since nicmon started";
  } else if (change.lost && change.recovered_after) {
    note = "flapped: lost, and up again when it was asked";
  } else if (change.recovered_after) {
    note = "up again after " + SecondsText(*change.recovered_after);
    note += source == QuerySource::kTick ? ", no event was seen" : "";
  } else if (change.lost) {
    note = data_.stale ? "lost its link, and the query failed" : "lost its link";
  } else if (!change.before) {
    return;
  }
  const std::optional<int> before = change.before ? change.before : known_state_;
  Record(TransitionType::kLink, std::string(QuerySourceName(source)),
         change.seen_first ? "" : StateText(before), StateText(data_.state), std::move(note), now);
}

void PortTracker::RecordMissedEvent(Now now) {
  Record(TransitionType::kMismatch, "tick", "", StateText(data_.state),
         "missed event: no event told of this state", now);
}

}  // namespace nicmon
