#include "log_format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "nicmon/base/text.h"

namespace nicmon::log {
namespace {

void AppendNumber(std::string& out, const char* format, uint32_t number) {
  std::array<char, 16> text;
  const int length = std::snprintf(text.data(), text.size(), format, number);
  out.append(text.data(), static_cast<size_t>(length));
}

/// Escapes that text and JSON share; false when `code` needs none.
bool AppendShortEscape(std::string& out, uint32_t code) {
  switch (code) {
    case '\\':
      out += "\\\\";
      return true;
    case '\n':
      out += "\\n";
      return true;
    case '\r':
      out += "\\r";
      return true;
    case '\t':
      out += "\\t";
      return true;
    default:
      return false;
  }
}

/// Appends `text`, cut to kMaxValueBytes, with everything escaped that does not belong into a line.
void AppendEscaped(std::string& out, std::string_view text, Format format, bool escape_quotes) {
  const bool cut = text.size() > kMaxValueBytes;
  text = text.substr(0, kMaxValueBytes);
  while (!text.empty()) {
    const Utf8Sequence step = DecodeUtf8(text);
    if (step.length == 0) {
      if (format == Format::kJson) {
        out += "\\ufffd";
      } else {
        AppendNumber(out, "\\x%02x", static_cast<unsigned char>(text[0]));
      }
    } else if (AppendShortEscape(out, step.code)) {
      // Done.
    } else if (step.code == '"' && escape_quotes) {
      out += "\\\"";
    } else if (IsUnsafeInLine(step.code)) {
      AppendNumber(out, "\\u%04x", step.code);
    } else {
      out += text.substr(0, step.length);
    }
    text.remove_prefix(std::max<size_t>(step.length, 1));
  }
  if (cut) {
    out += "...";
  }
}

bool NeedsQuotes(std::string_view value) {
  return value.empty() || std::any_of(value.begin(), value.end(), [](char c) {
           return c <= ' ' || c >= 0x7F || c == '"' || c == '=' || c == '\\';
         });
}

/// Keys are ours, but what is a valid record must not hang on that.
std::string TextKey(std::string_view key) {
  std::string out(key.empty() ? "_" : key.substr(0, kMaxValueBytes));
  std::replace_if(
      out.begin(), out.end(),
      [](char c) { return c <= ' ' || c >= 0x7F || c == '"' || c == '=' || c == '\\'; }, '_');
  return out;
}

void AppendJsonString(std::string& out, std::string_view text) {
  out += '"';
  AppendEscaped(out, text, Format::kJson, true);
  out += '"';
}

}  // namespace

std::string Quoted(std::string_view text) {
  std::string out = "\"";
  AppendEscaped(out, text, Format::kText, true);
  return out + '"';
}

std::string TextBody(std::string_view message, std::span<const Field> fields) {
  std::string out;
  AppendEscaped(out, message, Format::kText, false);
  for (const Field& field : fields) {
    out += ' ';
    out += TextKey(field.key);
    out += '=';
    out += NeedsQuotes(field.value) ? Quoted(field.value) : field.value.substr(0, kMaxValueBytes);
  }
  return out;
}

std::string JsonBody(std::string_view message, std::span<const Field> fields) {
  std::string out = "\"message\":";
  AppendJsonString(out, message);
  for (const Field& field : fields) {
    const bool taken = field.key == "time" || field.key == "level" || field.key == "message";
    out += ',';
    AppendJsonString(out, taken ? std::string(field.key) + '_' : std::string(field.key));
    out += ':';
    AppendJsonString(out, field.value);
  }
  return out;
}

}  // namespace nicmon::log
