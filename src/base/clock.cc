#include "nicmon/base/clock.h"

#include <ctime>

#include <cstdio>

namespace nicmon {

Clock Clock::Real() {
  return {[] { return SteadyTime(std::chrono::steady_clock::now()); },
          [] { return WallTime(std::chrono::system_clock::now()); }};
}

std::string Rfc3339(WallTime time) {
  const auto millis =
      std::chrono::floor<std::chrono::milliseconds>(time.time_since_epoch()).count();
  const auto in_second = ((millis % 1000) + 1000) % 1000;
  const std::time_t seconds = (millis - in_second) / 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char text[64];
  const int length = std::snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                                   utc.tm_year + 1900, utc.tm_mon + 1, utc.tm_mday, utc.tm_hour,
                                   utc.tm_min, utc.tm_sec, static_cast<int>(in_second));
  return std::string(text, static_cast<size_t>(length));
}

}  // namespace nicmon
