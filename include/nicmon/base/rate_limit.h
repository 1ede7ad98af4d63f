#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "nicmon/base/clock.h"

namespace nicmon {

/// Lets the first record of a kind through, then one per interval, and counts what was left out.
/// Used by one thread; keys are few and bounded by the caller.
class RateLimit {
 public:
  explicit RateLimit(Duration interval = std::chrono::seconds(10)) : interval_(interval) {}

  /// nullopt: leave this one out. Otherwise how many of this kind were left out since the last.
  std::optional<uint64_t> Allow(const std::string& key, SteadyTime now);

 private:
  struct Entry {
    SteadyTime next;
    uint64_t left_out = 0;
  };
  Duration interval_;
  std::map<std::string, Entry> entries_;
};

}  // namespace nicmon
