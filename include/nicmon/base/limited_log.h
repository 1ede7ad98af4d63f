#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nicmon/base/log.h"
#include "nicmon/base/rate_limit.h"

namespace nicmon {

/// Writes a record unless one of the same key was written a moment ago; the next one that is
/// written says how many were left out. What is left out counts as suppressed.
void LogLimited(RateLimit& limit, const std::string& key, SteadyTime now, log::Level level,
                std::string_view message, std::vector<log::Field> fields);

}  // namespace nicmon
