// The ports, and then what happens to them, until somebody has seen enough.
#include <map>

#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/outcome.h"
#include "ctl/replies.h"
#include "ctl/sse.h"
#include "ctl/text.h"
#include "nicmon/base/clock.h"

namespace nicmon::ctl {
namespace {

std::string Line(const PortReply& port) {
  return port.Name() + (port.serving ? " serves, " + GbpsText(port.speed) + " Gb/s"
                                     : " does not serve: " + WhyNotServing(port));
}

/// "mlx5_0/1 link: active -> down (event), up again after 3.214 s".
std::string Line(const EventReply& event) {
  std::string line = event.device + (event.port.empty() ? "" : "/" + event.port) + " " +
                     event.type + ": " + event.before;
  line += event.after.empty() ? "" : (event.before.empty() ? "" : " -> ") + event.after;
  line += event.cause.empty() ? "" : " (" + event.cause + ")";
  line += event.by.empty() ? "" : " by " + event.by;
  return line + (event.note.empty() ? "" : ", " + event.note);
}

/// Turns events of the stream into lines; remembers what it said of each port.
class Teller {
 public:
  std::string Tell(const StreamReply& reply) {
    const std::string time =
        (reply.event ? reply.event->time : Rfc3339(Clock::Real().wall())) + "  ";
    std::string out = reply.event ? time + Line(*reply.event) + "\n" : "";
    const auto before = said_;
    if (reply.snapshot) {
      said_.clear();
    }
    for (const PortReply& port : reply.ports) {
      const std::string line = Line(port);
      const auto old = before.find(port.Name());
      out += old != before.end() && old->second == line ? "" : time + line + "\n";
      said_[port.Name()] = line;
    }
    for (const auto& [name, line] : before) {
      out += said_.count(name) != 0 ? "" : time + name + " is gone\n";
    }
    return out;
  }

 private:
  std::map<std::string, std::string> said_;
};

}  // namespace

int Watch(Client& client, const Invocation& invocation) {
  EventReader reader;
  Teller teller;
  bool understood = true;
  bool written = true;
  const Answer answer = client.Stream("/api/v1/stream", [&](std::string_view piece) {
    for (const std::string& data : reader.Read(piece)) {
      const auto reply = ParseStream(data);
      understood = reply.has_value();
      written = understood &&
                (invocation.Has("json") ? Print(data + "\n") : PrintText(teller.Tell(*reply)));
      if (!written) {
        return false;
      }
    }
    return true;
  });
  if (!understood) {
    return FailUnknown();
  }
  if (!answer.ok()) {
    return Fail(answer);
  }
  if (written) {
    PrintError("the stream has ended: nicmon stops, or this was too slow to read it");
  }
  return kCannot;
}

}  // namespace nicmon::ctl
