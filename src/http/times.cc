#include "http/times.h"

#include "http/text.h"

namespace nicmon::http {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::seconds;

constexpr seconds kMaxTtl = hours(24 * 3653);

std::optional<seconds> UnitOf(char unit) {
  switch (unit) {
    case 's':
      return seconds(1);
    case 'm':
      return minutes(1);
    case 'h':
      return hours(1);
    case 'd':
      return hours(24);
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Duration> ParseTtl(std::string_view text) {
  seconds total(0);
  while (!text.empty()) {
    size_t digits = 0;
    while (digits < text.size() && IsDigit(text[digits])) {
      ++digits;
    }
    if (digits == 0 || digits > 9 || digits == text.size()) {
      return std::nullopt;
    }
    const auto number = ParseNumber(text.substr(0, digits));
    const auto unit = UnitOf(text[digits]);
    if (!number || !unit) {
      return std::nullopt;
    }
    total += *unit * static_cast<int64_t>(*number);
    text.remove_prefix(digits + 1);
    if (total > kMaxTtl) {
      return std::nullopt;
    }
  }
  return total > seconds(0) ? std::optional<Duration>(total) : std::nullopt;
}

}  // namespace nicmon::http
