#include "ctl/command_table.h"

#include <algorithm>

#include "ctl/commands.h"
#include "ctl/text.h"
#include "nicmon/ctl/ctl.h"

namespace nicmon {
namespace ctl {
namespace {

constexpr FlagRow kFlags[] = {
    {"socket", "PATH", "admin socket of the nicmon to ask", true},
    {"url", "URL", "ask over TCP instead: http://HOST:PORT or https://HOST:PORT", true},
    {"token-file", "FILE", "with --url: a file with a bearer token, or a name:token line", true},
    {"user", "NAME", "with --url: for basic auth, which opens reads; needs --password-file", true},
    {"password-file", "FILE", "with --user: a file with the password", true},
    {"ca-file", "FILE", "with an https --url: certificates to trust instead of the system's", true},
    {"cert", "FILE", "with an https --url: our own certificate; needs --key", true},
    {"key", "FILE", "with --cert: its key", true},
    {"insecure", "", "with an https --url: trust whoever answers", true},
    {"json", "", "print what nicmon answered, as JSON", true},
    {"help", "", "print this", true},
    {"all", "", "all devices"},
    {"before", "TIME|AGE|NEXT",
     "only what is older: a time, an age such as 12h, or next of a page"},
    {"by", "NAME", "who asks, for whoever finds it (default: who you are logged in as)"},
    {"count", "N", "at most so many ports; fewer is exit code 1"},
    {"device", "DEVICE", "only what is about this device"},
    {"expect-ports", "N", "how many ports have to serve"},
    {"format", "FORMAT", "nccl (NCCL_IB_HCA) or ucx (UCX_NET_DEVICES) instead of a table"},
    {"hold-id", "ID", "lift this hold only"},
    {"limit", "N", "at most so many, up to 1000 (default 100)"},
    {"min-speed", "GBPS", "slower ports do not count as serving"},
    {"numa", "N", "only ports of this NUMA node"},
    {"port", "N", "only what is about the port of this number"},
    {"reason", "TEXT", "why, for whoever finds it"},
    {"replace", "", "take the place of a hold"},
    {"since", "TIME|AGE", "only since a time, or an age such as 12h"},
    {"sort", "ORDER", "pci, or estimate: most free bandwidth first"},
    {"ttl", "DURATION", "when it ends by itself, such as 30m, 2h, 1d"},
    {"type", "TYPE", "only events of this type, such as link, hold, device"},
    {"until", "TIME", "the same as a time with date and offset, such as 2026-01-31T08:00:00Z"},
};

// clang-format off
constexpr CommandRow kCommands[] = {
    {"ports", Target::kMaybePort, "", "", "state of all ports or of one, problems first", Ports},
    {"devices", Target::kMaybeDevice, "", "", "state of all devices or of one", Devices},
    {"holds", Target::kNone, "", "", "what is held, by whom, why, until when", Holds},
    {"events", Target::kNone, "limit since before device port type", "", "what happened, newest first", Events},
    {"requery", Target::kDeviceOrPort, "", "", "ask the hardware now; 1 unless it serves", Requery},
    {"probe", Target::kPort, "", "", "send data through the port to itself, step by step; 1 when a step fails", Probe},
    {"pause", Target::kPort, "reason ttl until by replace", "reason", "take a port out of service; running jobs are not touched", Pause},
    {"resume", Target::kPort, "hold-id by reason", "", "lift the hold of a port", Resume},
    {"release", Target::kMaybeDevice, "all reason ttl by", "reason", "close a device for driver work (1h unless told); 1 while it is not closed", Release},
    {"reopen", Target::kMaybeDevice, "all by reason", "", "end the release; 1 while a device is not open", Reopen},
    {"accept-speed", Target::kPort, "by reason", "", "take today's speed as the baseline of a port", AcceptSpeed},
    {"forget", Target::kPort, "by reason", "", "stop requiring a port that is gone", Forget},
    {"delete-hold", Target::kHold, "by reason", "", "drop a hold by its id, also when its device is gone", DeleteHold},
    {"audit", Target::kNone, "limit since before device port", "", "what operators did, newest first", AuditLog},
    {"log-level", Target::kLevel, "", "", "log more or less until nicmon starts again", LogLevel},
    {"select", Target::kNone, "count numa sort format", "", "ports for a job; 1 when there are too few", Select},
    {"watch", Target::kNone, "", "", "the ports, then every change until interrupted", Watch},
    {"health", Target::kNone, "", "", "whether nicmon itself works, whatever the NICs do", Health},
    {"check", Target::kNone, "expect-ports min-speed", "", "whether the ports serve, in one line: 0 yes, 1 no, 2 unknown", Check},
};
// clang-format on

}  // namespace

std::span<const FlagRow> FlagRows() {
  return kFlags;
}

std::span<const CommandRow> CommandRows() {
  return kCommands;
}

const CommandRow* FindCommand(std::string_view name) {
  const auto* const found =
      std::find_if(std::begin(kCommands), std::end(kCommands),
                   [&](const CommandRow& command) { return command.name == name; });
  return found == std::end(kCommands) ? nullptr : found;
}

std::string_view TargetText(Target target) {
  switch (target) {
    case Target::kMaybePort:
      return "[DEVICE/PORT]";
    case Target::kPort:
      return "DEVICE/PORT";
    case Target::kMaybeDevice:
      return "[DEVICE]";
    case Target::kDeviceOrPort:
      return "DEVICE[/PORT]";
    case Target::kHold:
      return "HOLD";
    case Target::kLevel:
      return "LEVEL";
    case Target::kNone:
      break;
  }
  return "";
}

std::string_view TargetExample(Target target) {
  switch (target) {
    case Target::kHold:
      return "such as hx4k9w-1, see nicmon ctl holds";
    case Target::kLevel:
      return "debug, info, warning or error";
    default:
      return "such as mlx5_0/1";
  }
}

}  // namespace ctl

std::vector<CtlCommandText> CtlCommandTexts() {
  std::vector<CtlCommandText> texts;
  for (const ctl::CommandRow& command : ctl::CommandRows()) {
    CtlCommandText text{std::string(command.name), std::string(TargetText(command.target)), {}};
    for (const std::string& flag : ctl::Words(command.flags)) {
      text.flags.push_back("--" + flag);
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

std::vector<std::string> CtlCommonFlags() {
  std::vector<std::string> flags;
  for (const ctl::FlagRow& flag : ctl::FlagRows()) {
    if (flag.common) {
      flags.push_back("--" + std::string(flag.name));
    }
  }
  return flags;
}

}  // namespace nicmon
