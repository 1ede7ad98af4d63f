#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "ctl/replies.h"

namespace nicmon::ctl {

struct CheckOptions {
  std::optional<uint64_t> expect_ports;
  std::optional<double> min_speed;  // Gb/s
};

struct Verdict {
  int exit_code = 0;
  std::string text;  // one line
};

/// Whether the ports are as they should be. A port is good when it serves and is not slower than
/// `min_speed` (unknown is slower). With `expect_ports` so many have to be good; without, every
/// required port that nobody holds or has released on purpose, and at least one.
Verdict Judge(const std::vector<PortReply>& ports, const CheckOptions& options);

}  // namespace nicmon::ctl
