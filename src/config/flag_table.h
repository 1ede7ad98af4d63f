#pragma once

#include <span>
#include <string>
#include <string_view>

#include "nicmon/config/config.h"

namespace nicmon::config {

enum class Kind : uint8_t {
  kValue,          // --flag VALUE
  kList,           // the same, several times; each source replaces the weaker one's list
  kSwitch,         // --flag, or --flag=BOOL
  kOptionalValue,  // --flag, or --flag=VALUE
  kCommand,        // --flag: do something else than run
};

/// From where a row may be set, beside the command line.
enum class Sources : uint8_t { kAll, kEnvironment, kFlagOnly };

/// One flag, its environment variable and its key in the file. Adding a flag is adding a row (and
/// its member of Config).
struct Row {
  std::string_view name;          // "listen"
  std::string_view value_name;    // "ADDR:PORT"
  std::string_view default_text;  // what Config{} holds; empty: not set
  std::string_view accepts;       // "a duration from 100ms to 1m, such as 500ms"
  std::string_view help;
  /// Stores one value. False when it is not accepted; `why` may say more than `accepts` does.
  bool (*set)(Config& config, const std::string& value, std::string& why) = nullptr;
  Kind kind = Kind::kValue;
  Sources sources = Sources::kAll;
};

std::span<const Row> Rows();

/// "NICMON_ADMIN_SOCKET"; empty for a row that has none.
std::string EnvironmentName(const Row& row);

}  // namespace nicmon::config
