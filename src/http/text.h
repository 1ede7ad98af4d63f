#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nicmon::http {

// Locale-free character tests: <cctype> is undefined for negative chars.
inline bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}
inline bool IsAlnum(char c) {
  return IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

std::string Lower(std::string_view text);
std::string_view Trim(std::string_view text);  // blanks and tabs at both ends
std::vector<std::string_view> Split(std::string_view text, char separator);

/// Whether a comma-separated header value has `token` (lower-case) in it.
bool HasListToken(std::string_view value, std::string_view token);

/// The weight 0 … 1 that a comma-separated header gives to exactly `item`; nullopt: not listed.
std::optional<double> ListedQuality(std::string_view value, std::string_view item);

/// A whole decimal number without sign; nullopt for anything else.
std::optional<uint64_t> ParseNumber(std::string_view text);

/// Everything but letters, digits and "-._~" percent-encoded: safe in a URL, a form and a shell.
std::string PercentEncode(std::string_view text);

/// Percent-decoding that refuses a '%' without two hex digits, and NUL. `plus_is_blank` as in
/// forms.
std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank);

/// "a=b&c=d" in order, decoded; nullopt when an encoding is broken.
std::optional<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text);

bool IsUtf8(std::string_view text);
bool HasControl(std::string_view text);  // bytes below 0x20, or 0x7f

/// For places where only printable ASCII may go (header values, table cells): the rest as '?'.
std::string Printable(std::string_view text);

}  // namespace nicmon::http
