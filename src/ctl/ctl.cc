#include "nicmon/ctl/ctl.h"

#include <csignal>
#include <exception>

#include "ctl/argv.h"
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/text.h"
#include "nicmon/base/terminal_text.h"

namespace nicmon {
namespace ctl {
namespace {

std::string FlagHelp(const std::vector<const FlagRow*>& flags) {
  std::vector<std::vector<std::string>> rows;
  for (const FlagRow* flag : flags) {
    const std::string value = flag->value_name.empty() ? "" : " " + std::string(flag->value_name);
    rows.push_back({"  --" + std::string(flag->name) + value, std::string(flag->help)});
  }
  return AlignedTable(rows);
}

std::vector<const FlagRow*> CommonFlags() {
  std::vector<const FlagRow*> flags;
  for (const FlagRow& flag : FlagRows()) {
    if (flag.common) {
      flags.push_back(&flag);
    }
  }
  return flags;
}

std::string HelpOfAll() {
  std::vector<std::vector<std::string>> rows;
  for (const CommandRow& command : CommandRows()) {
    rows.push_back(
        {"  " + std::string(command.name) + " " + std::string(TargetText(command.target)),
         std::string(command.help)});
  }
  return "Usage: nicmon ctl COMMAND [TARGET] [FLAG]...\n"
         "Asks the nicmon of this node, over its admin socket. DEVICE is a name, PCI address, "
         "node\n"
         "GUID or netdev. nicmon ctl COMMAND --help tells a command's own flags.\n\n" +
         AlignedTable(rows) + "\nFlags of every command:\n" + FlagHelp(CommonFlags()) +
         "\nExit codes: 0 done, or yes; 1 failed, or no; 2 wrong usage, or nobody to ask.\n";
}

std::string HelpOf(const CommandRow& command) {
  std::vector<const FlagRow*> flags;
  for (const std::string& name : Words(command.flags)) {
    for (const FlagRow& flag : FlagRows()) {
      if (flag.name == name) {
        flags.push_back(&flag);
      }
    }
  }
  const std::string target(TargetText(command.target));
  return "Usage: nicmon ctl " + std::string(command.name) + (target.empty() ? "" : " " + target) +
         " [FLAG]...\n" + std::string(command.help) + "\n\n" + FlagHelp(flags) +
         (flags.empty() ? "" : "\n") + "Flags of every command:\n" + FlagHelp(CommonFlags());
}

int Run(int argc, const char* const* argv) {
  const Parsed parsed = ParseCommandLine(argc, argv);
  if (!parsed.error.empty()) {
    PrintError(parsed.error);
    return kCannot;
  }
  if (parsed.help) {
    return Print(parsed.command == nullptr ? HelpOfAll() : HelpOf(*parsed.command)) ? kYes
                                                                                    : kCannot;
  }
  std::string error;
  auto endpoint = FindEndpoint(parsed.invocation, &error);
  if (!endpoint) {
    if (parsed.command->run == &Check) {
      (void)PrintText("UNKNOWN: " + error + "\n");
    } else {
      PrintError(error);
    }
    return kCannot;
  }
  Client client(std::move(*endpoint));
  return parsed.command->run(client, parsed.invocation);
}

}  // namespace
}  // namespace ctl

int RunCtl(int argc, const char* const* argv) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that left shows as an error of write()
  try {
    return ctl::Run(argc - 1, argv + 1);
  } catch (const std::exception& error) {
    ctl::PrintError(error.what());
    return ctl::kCannot;
  }
}

}  // namespace nicmon
