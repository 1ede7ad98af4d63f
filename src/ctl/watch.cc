// The ports, and then what changes, until somebody has seen enough.
#include <chrono>
#include <map>
#include <thread>

#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/outcome.h"
#include "ctl/replies.h"
#include "ctl/text.h"
#include "nicmon/base/clock.h"

namespace nicmon::ctl {
namespace {

constexpr auto kPeriod = std::chrono::seconds(1);

std::string Line(const PortReply& port) {
  return port.Name() + (port.serving ? " serves, " + GbpsText(port.speed) + " Gb/s"
                                     : " does not serve: " + WhyNotServing(port));
}

std::map<std::string, std::string> Lines(const std::vector<PortReply>& ports) {
  std::map<std::string, std::string> lines;
  for (const PortReply& port : ports) {
    lines[port.Name()] = Line(port);
  }
  return lines;
}

std::string Changes(const std::map<std::string, std::string>& before,
                    const std::map<std::string, std::string>& now) {
  const std::string time = Rfc3339(Clock::Real().wall()) + "  ";
  std::string out;
  for (const auto& [name, line] : now) {
    const auto old = before.find(name);
    out += old != before.end() && old->second == line ? "" : time + line + "\n";
  }
  for (const auto& [name, line] : before) {
    out += now.count(name) != 0 ? "" : time + name + " is gone\n";
  }
  return out;
}

}  // namespace

int Watch(Client& client, const Invocation& invocation) {
  std::map<std::string, std::string> before;
  for (;;) {
    const Answer answer = client.Get("/api/v1/ports");
    const auto ports = answer.ok() ? ParsePorts(answer.body) : std::nullopt;
    if (!ports) {
      return answer.ok() ? FailUnknown() : Fail(answer);
    }
    const auto now = Lines(*ports);
    std::string changes = Changes(before, now);
    if (invocation.Has("json")) {
      changes = changes.empty() ? "" : answer.body;
    }
    if (!Print(changes)) {
      return kCannot;
    }
    before = now;
    std::this_thread::sleep_for(kPeriod);
  }
}

}  // namespace nicmon::ctl
