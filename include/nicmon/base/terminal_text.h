#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace nicmon {

/// One line of UTF-8 fit for a terminal, whoever wrote it: what is not well-formed, steers the
/// terminal, turns the text around or cannot be seen (controls, format characters, private use) is
/// '?'.
std::string TerminalText(std::string_view text);

/// The columns that TerminalText() takes: 0 for a combining mark, 2 for a wide character.
size_t TerminalWidth(std::string_view text);

/// For a terminal that knows ASCII only: '?' for each column of anything else. Lines stay lines.
std::string AsciiText(std::string_view text);

/// Columns as wide as their widest cell, two blanks between them, nothing behind the last; each
/// cell as TerminalText().
std::string AlignedTable(const std::vector<std::vector<std::string>>& rows);

}  // namespace nicmon
