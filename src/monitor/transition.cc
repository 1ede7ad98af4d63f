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

bool Matches(const EventQuery& query, const Transition& event) {
  return query.audit == (event.type == TransitionType::kAudit) &&
         (!query.before_seq || event.seq < *query.before_seq) &&
         (!query.since || event.time >= *query.since) &&
         (!query.before || event.time < *query.before) &&
         (query.device.empty() || event.device == query.device) &&
         (!query.port || event.port == *query.port) && (!query.type || event.type == *query.type);
}

}  // namespace nicmon
