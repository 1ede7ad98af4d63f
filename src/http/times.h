#pragma once

#include <optional>
#include <string_view>

#include "nicmon/base/clock.h"

namespace nicmon::http {

/// "30s", "10m", "2h", "1d", "1h30m": more than zero, at most ten years. nullopt for all else.
std::optional<Duration> ParseTtl(std::string_view text);

}  // namespace nicmon::http
