#include "nicmon/base/rate_limit.h"

namespace nicmon {

std::optional<uint64_t> RateLimit::Allow(const std::string& key, SteadyTime now) {
  const auto [it, is_new] = entries_.try_emplace(key);
  Entry& entry = it->second;
  if (!is_new && now < entry.next) {
    ++entry.left_out;
    return std::nullopt;
  }
  entry.next = now + interval_;
  return std::exchange(entry.left_out, 0);
}

}  // namespace nicmon
