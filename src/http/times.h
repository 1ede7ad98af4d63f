#pragma once

#include <optional>
#include <string_view>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// "30s", "10m", "2h", "1d", "1h30m": more than zero, at most ten years. nullopt for all else.
std::optional<Duration> ParseTtl(std::string_view text);

/// RFC 3339 with a date, seconds and an offset ("2026-01-31T23:59:59Z", "…+01:00", fractions to
/// the nanosecond). A blank before the offset's hours counts as the '+' that form encoding took.
std::optional<WallTime> ParseRfc3339(std::string_view text);

}  // namespace nicmon::http
