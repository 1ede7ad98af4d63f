#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace nicmon {

using Duration = std::chrono::nanoseconds;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, Duration>;
using WallTime = std::chrono::time_point<std::chrono::system_clock, Duration>;

/// Where the time comes from; tests pass their own.
struct Clock {
  std::function<SteadyTime()> steady;  // for intervals and deadlines; never jumps
  std::function<WallTime()> wall;      // for what people and Prometheus read
  static Clock Real();
};

/// RFC 3339 in UTC with milliseconds: "2026-01-31T23:59:59.123Z".
std::string Rfc3339(WallTime time);

/// RFC 3339 with a date, seconds and an offset ("2026-01-31T23:59:59Z", "…+01:00", fractions to
/// the nanosecond). A blank before the offset's hours counts as the '+' that form encoding took.
std::optional<WallTime> ParseRfc3339(std::string_view text);

}  // namespace nicmon
