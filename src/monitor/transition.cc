#include "nicmon/monitor/transition.h"

#include <array>

namespace nicmon {
namespace {

constexpr std::array<std::string_view, 8> kNames = {"link",   "speed",    "gid",  "lid",
                                                    "device", "mismatch", "hold", "audit"};

}  // namespace

std::string_view TransitionTypeName(TransitionType type) {
  return kNames.at(static_cast<size_t>(type));
}

std::optional<TransitionType> TransitionTypeFromName(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) {
      return static_cast<TransitionType>(i);
    }
  }
  return std::nullopt;
}

namespace {

// As event_rows.cc asks the database.
bool IsAbout(const EventQuery& query, const Transition& event) {
  const bool device = query.device.empty() || event.device == query.device ||
                      (query.audit && event.device == kAllDevices);
  const bool port = !query.port || event.port == *query.port ||
                    (query.audit && event.port == 0 && !event.device.empty());
  return device && port;
}

}  // namespace

bool Matches(const EventQuery& query, const Transition& event) {
  return query.audit == (event.type == TransitionType::kAudit) &&
         (!query.before_seq || event.seq < *query.before_seq) &&
         (!query.since || event.time >= *query.since) &&
         (!query.before || event.time < *query.before) && IsAbout(query, event) &&
         (!query.type || event.type == *query.type);
}

}  // namespace nicmon
