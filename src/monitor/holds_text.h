#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nicmon/monitor/holds.h"

namespace nicmon {

/// The state as the text of holds.json: what is kept of devices that will be known again. Written
/// for people too: two blanks of indentation, times in RFC 3339, speeds in bits per second.
std::string HoldsText(const HoldsSnapshot& state);

struct HoldsRead {
  HoldsSnapshot state;                // nobody is bound or present
  std::vector<std::string> problems;  // one line each for what could not be read and is lost
};

/// Reads what HoldsText() of this or another version wrote. Members that it does not know are kept
/// for the next writing. What is wrong in one place does not hide the rest. A hold without an id
/// gets one of `id_series`.
HoldsRead ReadHolds(std::string_view text, const std::string& id_series = {});

/// "hx4k9w-12" of series "x4k9w", "h12" without one.
std::string HoldId(const std::string& series, uint64_t number);

}  // namespace nicmon
