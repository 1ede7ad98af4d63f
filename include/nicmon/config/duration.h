#pragma once

#include <optional>
#include <string_view>

#include "nicmon/base/clock.h"

namespace nicmon {

/// Reads "500ms", "1s", "2m", "1h", "1d": a whole number and a unit, nothing else. nullopt for any
/// other text and for what does not fit (about 292 years).
std::optional<Duration> ParseDuration(std::string_view text);

}  // namespace nicmon
