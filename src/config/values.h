#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/config/config.h"

/// Readers of single values. Each returns nullopt (or an error text) for what it does not accept,
/// and knows nothing of flags, environment or file.
namespace nicmon::config {

struct Listen {
  std::string host;  // empty: none was given (":9879")
  uint16_t port = 0;
};
/// "[v6]:port", "v4:port" or ":port"; numeric only. "[v4]:port" too: what writes its own address
/// into a template ("[$(HOST_IP)]:9879" in a pod) need not know the family.
std::optional<Listen> ParseListen(const std::string& text);

/// true false yes no 1 0.
std::optional<bool> ParseBool(std::string_view text);

/// A decimal whole number that is not above `most`.
std::optional<uint32_t> ParseCount(std::string_view text, uint32_t most);

/// Empty when `text` is an ECMAScript regular expression, else why not.
std::string RegexError(const std::string& text);

/// One [SELECTOR=]GBPS; on nullopt `why` may say more.
std::optional<ExpectSpeed> ParseExpectSpeed(const std::string& text, std::string& why);

/// Splits at commas and white space that stand outside (), [] and {}: those may be part of a
/// regular expression. A backslash hides the next character. Empty items are left out.
std::vector<std::string> SplitList(std::string_view text);

/// Non-empty UTF-8 without control characters, at most 253 bytes.
bool IsNodeName(const std::string& text);

std::string_view Trim(std::string_view text);

}  // namespace nicmon::config
