#include "http/text.h"

#include <algorithm>
#include <charconv>

#include "nicmon/base/text.h"

namespace nicmon::http {
namespace {

int HexDigit(char c) {
  if (IsDigit(c)) {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') {
      c = static_cast<char>(c | 0x20);
    }
  }
  return out;
}

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) {
      return parts;
    }
    text.remove_prefix(end + 1);
  }
}

bool HasListToken(std::string_view value, std::string_view token) {
  const auto parts = Split(value, ',');
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return Lower(Trim(part)) == token; });
}

std::optional<double> ListedQuality(std::string_view value, std::string_view item) {
  for (const std::string_view entry : Split(value, ',')) {
    const auto parts = Split(entry, ';');
    if (Lower(Trim(parts[0])) != item) {
      continue;
    }
    double quality = 1;
    for (size_t i = 1; i < parts.size(); ++i) {
      const std::string parameter = Lower(Trim(parts[i]));
      if (parameter.rfind("q=", 0) == 0) {
        const char* end = parameter.data() + parameter.size();
        const auto [stop, error] = std::from_chars(parameter.data() + 2, end, quality);
        if (error != std::errc() || stop != end) {
          quality = 0;
        }
      }
    }
    return std::clamp(quality, 0.0, 1.0);
  }
  return std::nullopt;
}

std::optional<uint64_t> ParseNumber(std::string_view text) {
  uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (text.empty() || error != std::errc() || stop != end) {
    return std::nullopt;
  }
  return value;
}

std::string PercentEncode(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = IsDigit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       std::string_view("-._~").find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

std::optional<std::string> PercentDecode(std::string_view text, bool plus_is_blank) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+' && plus_is_blank) {
      out += ' ';
      continue;
    }
    if (text[i] != '%') {
      out += text[i];
      continue;
    }
    if (i + 2 >= text.size()) {
      return std::nullopt;
    }
    const int high = HexDigit(text[i + 1]);
    const int low = HexDigit(text[i + 2]);
    if (high < 0 || low < 0 || high + low == 0) {
      return std::nullopt;
    }
    out += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return out;
}

std::optional<std::vector<std::pair<std::string, std::string>>> ParseForm(std::string_view text) {
  std::vector<std::pair<std::string, std::string>> out;
  for (const std::string_view part : Split(text, '&')) {
    if (part.empty()) {
      continue;
    }
    const size_t equals = part.find('=');
    const auto key = PercentDecode(part.substr(0, equals), true);
    const auto value = equals == std::string_view::npos
                           ? std::optional<std::string>("")
                           : PercentDecode(part.substr(equals + 1), true);
    if (!key || !value) {
      return std::nullopt;
    }
    out.emplace_back(*key, *value);
  }
  return out;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = DecodeUtf8(text).length;
    if (length == 0) {
      return false;
    }
    text.remove_prefix(length);
  }
  return true;
}

bool HasControl(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

std::string Printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c < ' ' || c > '~') {
      c = '?';
    }
  }
  return out;
}

}  // namespace nicmon::http
