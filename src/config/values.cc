#include "values.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <memory>
#include <regex>

namespace nicmon::config {
namespace {

/// Longer patterns could exhaust the stack of the recursive matcher.
constexpr size_t kMaxRegexBytes = 1024;
constexpr double kMaxGbps = 100000;

bool IsDigits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

bool IsAddress(int family, const std::string& text) {
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return ::inet_pton(family, text.c_str(), address.data()) == 1;
}

/// "400", "2.5": digits with at most one point among them.
std::optional<uint64_t> ParseGbps(std::string_view text) {
  const size_t point = text.find('.');
  const std::string_view whole = text.substr(0, point);
  const bool fraction = point != std::string_view::npos;
  if (!IsDigits(whole) || (fraction && !IsDigits(text.substr(point + 1)))) {
    return std::nullopt;
  }
  double gbps = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), gbps);
  if (error != std::errc() || end != text.data() + text.size() || gbps > kMaxGbps) {
    return std::nullopt;
  }
  const auto bps = static_cast<uint64_t>(std::llround(gbps * 1e9));
  return bps > 0 ? std::optional(bps) : std::nullopt;
}

std::optional<ExpectSpeed> ParseSelector(const std::string& text, std::string& why) {
  ExpectSpeed rule;
  const size_t colon = text.find(':');
  const std::string kind = text.substr(0, colon);
  const std::string value = colon == std::string::npos ? "" : text.substr(colon + 1);
  if (kind == "link") {
    rule.by = ExpectSpeed::By::kLink;
    if (value != "ib" && value != "eth") {
      return std::nullopt;
    }
    rule.matches = [value](const std::string& link) { return link == value; };
    return rule;
  }
  if (kind != "name" && kind != "board") {
    return std::nullopt;
  }
  rule.by = kind == "name" ? ExpectSpeed::By::kName : ExpectSpeed::By::kBoard;
  why = RegexError(value);
  if (!why.empty()) {
    return std::nullopt;
  }
  auto pattern = std::make_shared<const std::regex>(value, std::regex::ECMAScript);
  rule.matches = [pattern](const std::string& name) { return std::regex_match(name, *pattern); };
  return rule;
}

}  // namespace

std::optional<Listen> ParseListen(const std::string& text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos) {
    return std::nullopt;
  }
  const auto port = ParseCount(std::string_view(text).substr(colon + 1), UINT16_MAX);
  std::string host = text.substr(0, colon);
  const bool brackets = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (brackets) {
    host = host.substr(1, host.size() - 2);
  }
  const bool known = IsAddress(AF_INET, host) || (brackets && IsAddress(AF_INET6, host));
  if (!port || (!host.empty() && !known)) {
    return std::nullopt;
  }
  return Listen{host, static_cast<uint16_t>(*port)};
}

std::optional<bool> ParseBool(std::string_view text) {
  if (text == "true" || text == "yes" || text == "1") {
    return true;
  }
  if (text == "false" || text == "no" || text == "0") {
    return false;
  }
  return std::nullopt;
}

std::optional<uint32_t> ParseCount(std::string_view text, uint32_t most) {
  uint32_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (!IsDigits(text) || error != std::errc() || count > most) {
    return std::nullopt;
  }
  return count;
}

std::string RegexError(const std::string& text) {
  if (text.empty()) {
    return "the pattern is empty";
  }
  if (text.size() > kMaxRegexBytes) {
    return "the pattern is longer than " + std::to_string(kMaxRegexBytes) + " bytes";
  }
  try {
    const std::regex pattern(text, std::regex::ECMAScript);
    return {};
  } catch (const std::regex_error& error) {
    return error.what();
  }
}

std::optional<ExpectSpeed> ParseExpectSpeed(const std::string& text, std::string& why) {
  // The last "=" ends the selector: a pattern may hold one, a number cannot.
  const size_t equals = text.rfind('=');
  const bool selects = equals != std::string::npos;
  const auto bps = ParseGbps(selects ? std::string_view(text).substr(equals + 1) : text);
  if (!bps) {
    return std::nullopt;
  }
  std::optional<ExpectSpeed> rule;
  if (selects) {
    rule = ParseSelector(text.substr(0, equals), why);
  } else {
    rule.emplace();
    rule->matches = [](const std::string& /*any*/) { return true; };
  }
  if (rule) {
    rule->bps = *bps;
  }
  return rule;
}

std::vector<std::string> SplitList(std::string_view text) {
  std::vector<std::string> items(1);
  int depth = 0;  // of () and {}
  bool in_class = false;
  bool hidden = false;
  for (const char c : text) {
    if (!hidden && !in_class && depth == 0 && (c == ',' || c == ' ' || c == '\t')) {
      items.emplace_back();
      continue;
    }
    items.back() += c;
    if (hidden) {
      hidden = false;
    } else if (c == '\\') {
      hidden = true;
    } else if (in_class) {
      in_class = c != ']';
    } else if (c == '[') {
      in_class = true;
    } else if (c == '(' || c == '{') {
      ++depth;
    } else if (c == ')' || c == '}') {
      depth = std::max(0, depth - 1);
    }
  }
  std::erase(items, "");
  return items;
}

bool IsNodeName(const std::string& text) {
  // What the log has to escape is no name; a quoted one is longer by its two quotes.
  const bool plain = log::Quoted(text).size() == text.size() + 2;
  return plain && !text.empty() && text.size() <= 253 && Trim(text) == text;
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kSpace = " \t\r\n\v\f";
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == std::string_view::npos) {
    return {};
  }
  return text.substr(begin, text.find_last_not_of(kSpace) - begin + 1);
}

}  // namespace nicmon::config
