#include "nicmon/base/text.h"

namespace nicmon {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsControl(uint32_t code) {
  return code < 0x20 || (code >= 0x7F && code <= 0x9F);
}

std::string Rewrite(std::string_view text, bool drop_controls) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Sequence sequence = DecodeUtf8(text);
    if (sequence.length == 0) {
      out += kReplacement;
      text.remove_prefix(1);
      continue;
    }
    if (!drop_controls || !IsControl(sequence.code)) {
      out += text.substr(0, sequence.length);
    }
    text.remove_prefix(sequence.length);
  }
  return out;
}

}  // namespace

Utf8Sequence DecodeUtf8(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) {
    return {1, lead};
  }
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) {
    return {};
  }
  uint32_t code = lead & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return {};
    }
    code = code << 6 | (byte(i) & 0x3FU);
  }
  constexpr uint32_t kSmallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = code >= 0xD800 && code <= 0xDFFF;
  if (code < kSmallest[length] || code > 0x10FFFF || surrogate) {
    return {};
  }
  return {length, code};
}

bool IsUnsafeInLine(uint32_t code) {
  return IsControl(code) || code == 0x2028 || code == 0x2029 ||
         (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

bool IsPlainLine(std::string_view text) {
  while (!text.empty()) {
    const Utf8Sequence sequence = DecodeUtf8(text);
    if (sequence.length == 0 || IsUnsafeInLine(sequence.code)) {
      return false;
    }
    text.remove_prefix(sequence.length);
  }
  return true;
}

std::string SanitizeUtf8(std::string_view text) {
  return Rewrite(text, false);
}

std::string CleanLine(std::string_view text) {
  const std::string line = Rewrite(text, true);
  const size_t first = line.find_first_not_of(' ');
  if (first == std::string::npos) {
    return "";
  }
  return line.substr(first, line.find_last_not_of(' ') - first + 1);
}

}  // namespace nicmon
