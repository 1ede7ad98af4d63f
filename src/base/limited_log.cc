#include "nicmon/base/limited_log.h"

namespace nicmon {

void LogLimited(RateLimit& limit, const std::string& key, SteadyTime now, log::Level level,
                std::string_view message, std::vector<log::Field> fields) {
  const auto left_out = limit.Allow(key, now);
  if (!left_out) {
    log::CountSuppressed(1);
    return;
  }
  if (*left_out > 0) {
    fields.push_back({"repeats_left_out", std::to_string(*left_out)});
  }
  log::WriteFields(level, message, fields);
}

}  // namespace nicmon
