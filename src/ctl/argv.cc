#include "ctl/argv.h"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "ctl/endpoint.h"
#include "ctl/text.h"
#include "nicmon/base/log.h"

namespace nicmon::ctl {
namespace {

std::string Listed(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

std::string UnknownCommand(const std::string& name) {
  std::vector<std::string> known;
  for (const CommandRow& command : CommandRows()) {
    known.emplace_back(command.name);
  }
  return "unknown command " + log::Quoted(name) + ", give one of " + Listed(known);
}

/// "--flag=" with nothing behind it: CLI11 would take the next argument for its value.
std::string EmptyValueError(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.starts_with("--") && argument.find('=') == argument.size() - 1) {
      return "flag " + std::string(argument.substr(0, argument.size() - 1)) +
             ": the value is empty";
    }
  }
  return {};
}

std::string FlagError(const CommandRow& command, const FlagRow& flag,
                      const std::vector<std::string>& values) {
  const std::string name = "flag --" + std::string(flag.name);
  const auto taken = Words(command.flags);
  if (!flag.common && std::find(taken.begin(), taken.end(), flag.name) == taken.end()) {
    return name + " does not go with " + std::string(command.name) + ", see nicmon ctl " +
           std::string(command.name) + " --help";
  }
  if (flag.value_name.empty()) {
    return values.back() == "true" ? "" : name + ": it takes no value";
  }
  return values.size() > 1 ? name + ": given more than once" : "";
}

std::string TargetError(const CommandRow& command, const std::vector<std::string>& targets) {
  const std::string usage =
      std::string(command.name) + " " + std::string(TargetText(command.target));
  if (targets.size() > 1 || (command.target == Target::kNone && !targets.empty())) {
    const std::string& extra = targets[command.target == Target::kNone ? 0 : 1];
    return "unexpected argument " + log::Quoted(extra) + ", usage: nicmon ctl " + usage;
  }
  if (targets.empty()) {
    const std::string_view text = TargetText(command.target);
    const bool needed = !text.empty() && !text.starts_with('[');
    return needed ? "which one? usage: nicmon ctl " + usage + ", " +
                        std::string(TargetExample(command.target))
                  : "";
  }
  const bool is_port = ParsePortName(targets.front()).has_value();
  const bool port_wanted = command.target == Target::kPort || command.target == Target::kMaybePort;
  if (port_wanted && !is_port) {
    return log::Quoted(targets.front()) + " is no port, give DEVICE/PORT such as mlx5_0/1";
  }
  if (command.target == Target::kMaybeDevice && is_port) {
    return log::Quoted(targets.front()) + " is a port, give its device";
  }
  return {};
}

/// What flags mean together.
std::string CombinationError(const CommandRow& command, const Invocation& invocation) {
  for (const std::string& flag : Words(command.required)) {
    if (!invocation.Has(flag)) {
      return std::string(command.name) + " needs --" + flag +
             (flag == "reason" ? ": say why, for whoever finds it" : "");
    }
  }
  if (invocation.Has("ttl") && invocation.Has("until")) {
    return "--ttl and --until are both given, give one of them";
  }
  if (invocation.Has("socket") && invocation.Has("url")) {
    return "--socket and --url are both given, give one of them";
  }
  for (const char* flag :
       {"token-file", "user", "password-file", "ca-file", "cert", "key", "insecure"}) {
    if (invocation.Has(flag) &&
        (invocation.Has("socket") || ConnectionSetting(invocation, "url").empty())) {
      return "--" + std::string(flag) + " goes with --url";
    }
  }
  const auto taken = Words(command.flags);
  if (std::find(taken.begin(), taken.end(), "all") != taken.end() &&
      invocation.Has("all") == !invocation.target.empty()) {
    return "give one device, or --all";
  }
  return {};
}

/// CLI11 only splits the command line; what goes with what is the tables'.
class Splitter {
 public:
  Splitter() {
    app_.set_help_flag();
    app_.allow_extras();
    app_.allow_windows_style_options(false);
    for (const FlagRow& row : FlagRows()) {
      const std::string name = (row.name == "help" ? "-h,--" : "--") + std::string(row.name);
      CLI::Option* const option =
          row.value_name.empty() ? app_.add_flag(name) : app_.add_option(name);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
      options_.push_back(option);
    }
  }
  /// One line that says what is wrong, or "".
  std::string Split(int argc, const char* const* argv) {
    try {
      app_.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
      const std::string what = log::Quoted(error.what());
      return what.substr(1, what.size() - 2) + ", see nicmon ctl --help";
    }
    for (const std::string& word : app_.remaining()) {
      if (word.size() > 1 && word.front() == '-') {
        return "unknown flag " + log::Quoted(word) + ", see nicmon ctl --help";
      }
      words_.push_back(word);
    }
    return {};
  }
  std::vector<std::string> values(size_t row) const { return options_[row]->results(); }
  const std::vector<std::string>& words() const { return words_; }

 private:
  CLI::App app_;
  std::vector<CLI::Option*> options_;
  std::vector<std::string> words_;
};

/// The flags that are given, into the invocation; one line that says what is wrong, or "".
std::string TakeFlags(const Splitter& splitter, const CommandRow& command, Invocation* invocation) {
  for (size_t i = 0; i < FlagRows().size(); ++i) {
    const FlagRow& row = FlagRows()[i];
    const auto values = splitter.values(i);
    if (values.empty()) {
      continue;
    }
    if (std::string error = FlagError(command, row, values); !error.empty()) {
      return error;
    }
    if (values.back().empty()) {
      return "flag --" + std::string(row.name) + ": the value is empty";
    }
    invocation->flags[std::string(row.name)] = values.back();
  }
  return {};
}

}  // namespace

Parsed ParseCommandLine(int argc, const char* const* argv) {
  Parsed parsed;
  parsed.error = EmptyValueError(argc, argv);
  Splitter splitter;
  if (parsed.error.empty()) {
    parsed.error = splitter.Split(argc, argv);
  }
  if (!parsed.error.empty()) {
    return parsed;
  }
  const auto& words = splitter.words();
  for (size_t i = 0; i < FlagRows().size(); ++i) {
    parsed.help = parsed.help || (FlagRows()[i].name == "help" && !splitter.values(i).empty());
  }
  if (words.empty()) {
    parsed.error = parsed.help ? "" : "which command? see nicmon ctl --help";
    return parsed;
  }
  parsed.command = FindCommand(words.front());
  if (parsed.command == nullptr) {
    parsed.error = UnknownCommand(words.front());
    return parsed;
  }
  if (parsed.help) {
    return parsed;
  }
  const std::vector<std::string> targets(words.begin() + 1, words.end());
  parsed.error = TargetError(*parsed.command, targets);
  parsed.invocation.target = targets.empty() ? "" : targets.front();
  if (parsed.error.empty()) {
    parsed.error = TakeFlags(splitter, *parsed.command, &parsed.invocation);
  }
  if (parsed.error.empty()) {
    parsed.error = CombinationError(*parsed.command, parsed.invocation);
  }
  return parsed;
}

}  // namespace nicmon::ctl
