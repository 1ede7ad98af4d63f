#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace nicmon::ctl {

inline constexpr int kYes = 0;     // done, or the answer is yes
inline constexpr int kNo = 1;      // failed, or the answer is no
inline constexpr int kCannot = 2;  // wrong usage, or nobody to ask

class Client;

/// What one command line asks for, checked against the tables below.
struct Invocation {
  std::string target;                        // as given; empty: none
  std::map<std::string, std::string> flags;  // by name without dashes; "true" for switches

  bool Has(const std::string& flag) const { return flags.count(flag) != 0; }
  /// The value, or "".
  std::string Get(const std::string& flag) const {
    const auto found = flags.find(flag);
    return found == flags.end() ? "" : found->second;
  }
};

/// One flag. Adding one is adding a row.
struct FlagRow {
  std::string_view name;        // "reason"
  std::string_view value_name;  // "TEXT"; empty: a switch
  std::string_view help;
  bool common = false;  // every command takes it
};
std::span<const FlagRow> FlagRows();

/// What a command is about, behind its name.
enum class Target : uint8_t {
  kNone,
  kMaybePort,
  kPort,
  kMaybeDevice,
  kDeviceOrPort,
  kHold,
  kLevel
};

/// One command. Adding one is adding a row (and its function).
struct CommandRow {
  std::string_view name;
  Target target;
  std::string_view flags;     // that it takes beside the common ones, blank-separated
  std::string_view required;  // of these
  std::string_view help;
  int (*run)(Client& client, const Invocation& invocation);  // the exit code
};
std::span<const CommandRow> CommandRows();
const CommandRow* FindCommand(std::string_view name);

/// "[DEVICE/PORT]"; empty for none.
std::string_view TargetText(Target target);
/// What a target that has to be given may look like, for who left it out.
std::string_view TargetExample(Target target);

}  // namespace nicmon::ctl
