#include "nicmon/base/clock.h"

namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::nanoseconds;
using std::chrono::seconds;

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

/// Takes exactly `digits` digits off the front.
std::optional<int> Take(std::string_view* text, size_t digits) {
  if (text->size() < digits) {
    return std::nullopt;
  }
  int value = 0;
  for (size_t i = 0; i < digits; ++i) {
    if (!IsDigit((*text)[i])) {
      return std::nullopt;
    }
    value = value * 10 + ((*text)[i] - '0');
  }
  text->remove_prefix(digits);
  return value;
}

bool TakeChar(std::string_view* text, std::string_view any_of) {
  if (text->empty() || any_of.find(text->front()) == std::string_view::npos) {
    return false;
  }
  text->remove_prefix(1);
  return true;
}

/// Up to nine digits after a dot; zero when there is no dot.
std::optional<nanoseconds> TakeFraction(std::string_view* text) {
  if (!TakeChar(text, ".")) {
    return nanoseconds(0);
  }
  int64_t value = 0;
  size_t digits = 0;
  while (!text->empty() && IsDigit(text->front()) && digits < 9) {
    value = value * 10 + (text->front() - '0');
    text->remove_prefix(1);
    ++digits;
  }
  for (size_t i = digits; i < 9; ++i) {
    value *= 10;
  }
  return digits == 0 ? std::nullopt : std::optional(nanoseconds(value));
}

/// The rest of the text as an offset from UTC.
std::optional<minutes> TakeOffset(std::string_view text) {
  if (text == "Z" || text == "z") {
    return minutes(0);
  }
  const bool negative = !text.empty() && text.front() == '-';
  if (!TakeChar(&text, "+- ")) {
    return std::nullopt;
  }
  const auto hour = Take(&text, 2);
  const bool colon = TakeChar(&text, ":");
  const auto minute = Take(&text, 2);
  if (!hour || !colon || !minute || !text.empty() || *hour > 23 || *minute > 59) {
    return std::nullopt;
  }
  const minutes offset = hours(*hour) + minutes(*minute);
  return negative ? -offset : offset;
}

}  // namespace

std::optional<WallTime> ParseRfc3339(std::string_view text) {
  const auto year = Take(&text, 4);
  const bool dash1 = TakeChar(&text, "-");
  const auto month = Take(&text, 2);
  const bool dash2 = TakeChar(&text, "-");
  const auto day = Take(&text, 2);
  const bool t = TakeChar(&text, "Tt ");
  const auto hour = Take(&text, 2);
  const bool colon1 = TakeChar(&text, ":");
  const auto minute = Take(&text, 2);
  const bool colon2 = TakeChar(&text, ":");
  const auto second = Take(&text, 2);
  if (!year || !dash1 || !month || !dash2 || !day || !t || !hour || !colon1 || !minute || !colon2 ||
      !second) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date{std::chrono::year(*year),
                                         std::chrono::month(static_cast<unsigned>(*month)),
                                         std::chrono::day(static_cast<unsigned>(*day))};
  const auto fraction = TakeFraction(&text);
  const auto offset = TakeOffset(text);
  // Beyond 2262 nanoseconds since 1970 do not fit in 64 bits.
  if (!date.ok() || *year < 1970 || *year > 2200 || *hour > 23 || *minute > 59 || *second > 59 ||
      !fraction || !offset) {
    return std::nullopt;
  }
  return WallTime(std::chrono::sys_days(date)) + hours(*hour) + minutes(*minute) +
         seconds(*second) + *fraction - *offset;
}

}  // namespace nicmon
