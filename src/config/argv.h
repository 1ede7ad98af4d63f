#pragma once

#include <string>
#include <vector>

namespace nicmon::config {

/// The command line taken apart, by row of the flag table.
struct Arguments {
  /// Values in the order given; a switch, an optional value or a command without one: "true".
  std::vector<std::vector<std::string>> values;
  std::string error;  // one line without "nicmon: "; empty when the command line is understood
};

Arguments ParseArguments(int argc, const char* const* argv);

}  // namespace nicmon::config
