#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nicmon {

/// The sequence at the beginning of some text of unknown origin.
struct Utf8Sequence {
  size_t length = 0;  // 0: what stands there is not well-formed (RFC 3629)
  uint32_t code = 0;
};

/// `text` must not be empty.
Utf8Sequence DecodeUtf8(std::string_view text);

/// Whether a code point ends a line for some reader, steers a terminal, or turns the text around:
/// C0, DEL, C1, line and paragraph separators, bidirectional controls.
bool IsUnsafeInLine(uint32_t code);

/// Whether all of `text` is well-formed UTF-8 without such code points.
bool IsPlainLine(std::string_view text);

/// `text` as valid UTF-8: every byte that does not belong to a well-formed sequence (overlong
/// forms, surrogates and anything above U+10FFFF included) becomes U+FFFD.
std::string SanitizeUtf8(std::string_view text);

/// One line fit for labels, JSON and logs from whatever bytes a driver reports: valid UTF-8,
/// control characters (C0, DEL, C1) removed, spaces trimmed at both ends.
std::string CleanLine(std::string_view text);

}  // namespace nicmon
