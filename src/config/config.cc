#include "nicmon/config/config.h"

#include <exception>

#include "argv.h"
#include "help.h"
#include "merge.h"

namespace nicmon {
namespace {

using Action = CommandLine::Action;

CommandLine Exit(int code, std::string output) {
  CommandLine line;
  line.action = Action::kExit;
  line.exit_code = code;
  line.output = std::move(output);
  return line;
}

CommandLine Read(int argc, const char* const* argv, const char* const* environment,
                 const std::vector<FileCheck>& checks) {
  const config::Arguments arguments = config::ParseArguments(argc, argv);
  const auto given = [&](std::string_view row) {
    return !arguments.values[config::IndexOf(row)].empty();
  };
  if (!arguments.error.empty()) {
    return Exit(2, "nicmon: " + arguments.error + "\n");
  }
  if (given("help")) {
    return Exit(0, config::HelpText());
  }
  if (given("version")) {
    return Exit(0, config::VersionText());
  }
  config::Merge merge;
  const bool fine = merge.NodeName(environment) && merge.ConfigFile(arguments, environment) &&
                    merge.Environment(environment) && merge.Flags(arguments) && merge.Existence() &&
                    merge.Contents(checks);
  if (!fine) {
    return Exit(2, "nicmon: " + merge.error() + "\n");
  }
  CommandLine line;
  line.config = merge.Result();
  if (given("check-config")) {
    line.action = Action::kCheckConfig;
    line.output = merge.AsFile();
  }
  return line;
}

}  // namespace

CommandLine ReadCommandLine(int argc, const char* const* argv, const char* const* environment,
                            const std::vector<FileCheck>& checks) {
  try {
    return Read(argc, argv, environment, checks);
  } catch (const std::exception& error) {
    return Exit(2, std::string("nicmon: ") + error.what() + "\n");
  }
}

}  // namespace nicmon
