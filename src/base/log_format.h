#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nicmon/base/log.h"

namespace nicmon::log {

/// Bytes of one message, key or value that are kept; the rest is cut off and marked with "...".
inline constexpr size_t kMaxValueBytes = 4096;

/// What follows time and level in a text record: `message key=value key="quoted value"`.
std::string TextBody(std::string_view message, std::span<const Field> fields);

/// What follows time and level inside a JSON record's braces: `"message":"…","key":"value"`.
std::string JsonBody(std::string_view message, std::span<const Field> fields);

}  // namespace nicmon::log
