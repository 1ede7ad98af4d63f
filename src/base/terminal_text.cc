#include "nicmon/base/terminal_text.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "nicmon/base/text.h"
#include "unicode_ranges.h"

namespace nicmon {
namespace {

template <size_t kSize>
bool IsIn(const Range (&ranges)[kSize], uint32_t code) {
  const auto* const range =
      std::lower_bound(std::begin(ranges), std::end(ranges), code,
                       [](const Range& one, uint32_t value) { return one.last < value; });
  return range != std::end(ranges) && range->first <= code;
}

/// Columns of a character; nullopt: it is not to be shown.
std::optional<size_t> WidthOf(uint32_t code) {
  if (code >= ' ' && code <= '~') {
    return 1;
  }
  if (IsUnsafeInLine(code) || IsIn(kUnseen, code)) {
    return std::nullopt;
  }
  return IsIn(kNarrowest, code) ? 0 : IsIn(kWide, code) ? 2 : 1;
}

/// Calls `each(part, width)` for every character; one that is not to be shown comes as "?".
template <typename Each>
void ForEach(std::string_view text, Each each) {
  while (!text.empty()) {
    const Utf8Sequence sequence = DecodeUtf8(text);
    const auto width = sequence.length == 0 ? std::nullopt : WidthOf(sequence.code);
    const size_t length = std::max<size_t>(sequence.length, 1);
    each(width ? text.substr(0, length) : std::string_view("?"), width.value_or(1));
    text.remove_prefix(length);
  }
}

}  // namespace

std::string TerminalText(std::string_view text) {
  std::string out;
  ForEach(text, [&](std::string_view part, size_t /*width*/) { out += part; });
  return out;
}

size_t TerminalWidth(std::string_view text) {
  size_t columns = 0;
  ForEach(text, [&](std::string_view /*part*/, size_t width) { columns += width; });
  return columns;
}

std::string AsciiText(std::string_view text) {
  std::string out;
  for (;;) {
    const size_t end = text.find('\n');
    ForEach(text.substr(0, end), [&](std::string_view part, size_t width) {
      out += part.size() == 1 ? std::string(part) : std::string(width, '?');
    });
    if (end == std::string_view::npos) {
      return out;
    }
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string AlignedTable(const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], TerminalWidth(row[i]));
    }
  }
  std::string out;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      line += TerminalText(row[i]) + std::string(widths[i] - TerminalWidth(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace nicmon
