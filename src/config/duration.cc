#include "nicmon/config/duration.h"

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace nicmon {

std::optional<Duration> ParseDuration(std::string_view text) {
  using std::chrono::nanoseconds;
  static constexpr std::array<std::pair<std::string_view, nanoseconds>, 5> kUnits = {{
      {"ms", std::chrono::milliseconds(1)},
      {"s", std::chrono::seconds(1)},
      {"m", std::chrono::minutes(1)},
      {"h", std::chrono::hours(1)},
      {"d", std::chrono::hours(24)},
  }};
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc()) {
    return std::nullopt;
  }
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  for (const auto& [name, length] : kUnits) {
    if (unit == name) {
      const auto most = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
      if (count > most / static_cast<uint64_t>(length.count())) {
        return std::nullopt;
      }
      return nanoseconds(static_cast<int64_t>(count) * length.count());
    }
  }
  return std::nullopt;
}

}  // namespace nicmon
