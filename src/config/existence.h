#pragma once

#include <string>

#include "nicmon/config/config.h"

namespace nicmon::config {

/// What is wrong with a file, directory or group that the configuration names. Looked at once the
/// strongest source of each setting is known, so that --check-config finds it.
struct Missing {
  std::string row;  // "admin-token-file"; empty: nothing is wrong
  std::string why;
};

Missing FindMissing(const Config& config);

}  // namespace nicmon::config
