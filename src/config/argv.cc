#include "argv.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <string_view>

#include "flag_table.h"
#include "nicmon/base/log.h"

namespace nicmon::config {
namespace {

/// "--flag=" with nothing behind it: CLI11 would take the next argument for its value.
std::string EmptyValueError(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (!argument.starts_with("--") || argument.find('=') != argument.size() - 1) {
      continue;
    }
    for (const Row& row : Rows()) {
      if (argument.substr(2, argument.size() - 3) == row.name) {
        return "flag --" + std::string(row.name) + ": the value is empty" +
               (row.accepts.empty() ? "" : ", give " + std::string(row.accepts));
      }
    }
  }
  return {};
}

/// A flag at the very end that wants a value: CLI11 does not say what would be accepted.
std::string MissingValueError(std::string_view last) {
  for (const Row& row : Rows()) {
    const bool wants_value = row.kind == Kind::kValue || row.kind == Kind::kList;
    if (wants_value && last == "--" + std::string(row.name)) {
      return "flag " + std::string(last) + ": the value is missing, give " +
             std::string(row.accepts);
    }
  }
  return {};
}

/// "--check-config=false" and the like: what it would mean is anybody's guess.
std::string CommandValueError(const Arguments& arguments) {
  for (size_t i = 0; i < Rows().size(); ++i) {
    const auto& values = arguments.values[i];
    if (Rows()[i].kind == Kind::kCommand &&
        std::any_of(values.begin(), values.end(), [](const auto& v) { return v != "true"; })) {
      return "flag --" + std::string(Rows()[i].name) + ": it takes no value";
    }
  }
  return {};
}

/// CLI11 only splits the command line; sources, precedence and validation are the table's.
std::vector<CLI::Option*> AddOptions(CLI::App& app) {
  std::vector<CLI::Option*> options;
  for (const Row& row : Rows()) {
    const std::string name = (row.name == "help" ? "-h,--" : "--") + std::string(row.name);
    const bool valueless = row.kind != Kind::kValue && row.kind != Kind::kList;
    CLI::Option* const option = valueless ? app.add_flag(name) : app.add_option(name);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    options.push_back(option);
  }
  return options;
}

std::string Unexpected(const CLI::App& app) {
  const auto rest = app.remaining();
  if (rest.empty()) {
    return {};
  }
  const bool flag = rest.front().starts_with("-");
  return (flag ? "unknown flag " : "unexpected argument ") + log::Quoted(rest.front()) +
         ", see nicmon --help";
}

}  // namespace

Arguments ParseArguments(int argc, const char* const* argv) {
  Arguments arguments;
  arguments.error = EmptyValueError(argc, argv);
  if (!arguments.error.empty()) {
    return arguments;
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  app.allow_windows_style_options(false);
  const auto options = AddOptions(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    arguments.error = MissingValueError(argv[argc - 1]);
    if (!arguments.error.empty()) {
      return arguments;
    }
    std::string what = log::Quoted(error.what());
    arguments.error = what.substr(1, what.size() - 2) + ", see nicmon --help";
    return arguments;
  }
  arguments.error = Unexpected(app);
  for (const CLI::Option* option : options) {
    arguments.values.push_back(option->results());
  }
  if (arguments.error.empty()) {
    arguments.error = CommandValueError(arguments);
  }
  return arguments;
}

}  // namespace nicmon::config
