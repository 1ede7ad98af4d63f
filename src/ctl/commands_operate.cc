// What changes something.
#include <pwd.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>

#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/outcome.h"
#include "ctl/replies.h"
#include "ctl/text.h"
#include "nicmon/base/terminal_text.h"

namespace nicmon::ctl {
namespace {

/// Who asks, unless --by says so: a name is more use than the user id that nicmon sees anyway.
std::string Asker() {
  const char* const sudo = std::getenv("SUDO_USER");
  if (sudo != nullptr && *sudo != '\0') {
    return sudo;
  }
  const passwd* const user = ::getpwuid(::geteuid());
  return user != nullptr ? user->pw_name : "";
}

/// The flags of these names as parameters, and who asks. Over TCP the token says who it is.
Parameters Signed(const Invocation& invocation, std::initializer_list<const char*> names) {
  Parameters parameters = Given(invocation, names);
  const std::string by =
      invocation.Has("by") || invocation.Has("url") ? invocation.Get("by") : Asker();
  if (!by.empty()) {
    parameters.emplace_back("by", by);
  }
  return parameters;
}

/// Prints a reply in the words of `text`; with --json as it came.
template <typename Parse, typename Words>
int Tell(const Invocation& invocation, const Answer& answer, Parse parse, Words text) {
  if (!answer.ok()) {
    return Fail(answer);
  }
  if (invocation.Has("json")) {
    return FinishRaw(answer, kYes);
  }
  const auto reply = parse(answer.body);
  return reply ? Finish(text(*reply), kYes) : FailUnknown();
}

/// Prints a reply of release or reopen: 0 when every device is `wanted`.
int FinishRelease(const Invocation& invocation, const Answer& answer, std::string_view wanted) {
  if (!answer.ok()) {
    return Fail(answer);
  }
  const auto reply = ParseRelease(answer.body);
  if (!reply) {
    return FailUnknown();
  }
  int exit_code = kYes;
  std::string replaced;
  std::vector<std::vector<std::string>> rows;
  for (const DeviceStatusReply& device : reply->devices) {
    rows.push_back({device.device, device.status});
    if (device.replaced) {
      replaced += device.device + ": replaced the release" + HoldText(*device.replaced) + "\n";
    }
    if (device.status == "pending") {
      rows.back().emplace_back(
          "hangs in a call, or a probe of it does: it follows when that returns");
    } else if (!reply->until.empty()) {
      rows.back().push_back("until " + reply->until);
    }
    exit_code = device.status == wanted ? exit_code : kNo;
  }
  if (invocation.Has("json")) {
    return FinishRaw(answer, exit_code);
  }
  return Finish((rows.empty() ? "no devices\n" : AlignedTable(rows)) + replaced, exit_code);
}

/// To the microsecond, as the reply has it.
std::string MillisecondsText(double milliseconds) {
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), milliseconds,
                                 std::chars_format::fixed, 3);
  return {buffer.data(), end.ptr};
}

/// "mlx5_0/1 ok in 1.234 ms over GID 3 (RoCE v2, eth0)", or where it failed, why, what to do.
std::string ProbeLine(const ProbeReply& reply) {
  const std::string port = reply.device + "/" + reply.port;
  if (!reply.ok()) {
    return port + " failed at " + reply.failed_step + ": " + reply.error +
           (reply.hint.empty() ? "" : "; " + reply.hint);
  }
  const std::string netdev = reply.gid_netdev.empty() ? "" : ", " + reply.gid_netdev;
  return port + " ok in " + MillisecondsText(reply.duration_ms) + " ms" +
         (reply.gid_index.empty()
              ? ""
              : " over GID " + reply.gid_index + " (" + reply.gid_type + netdev + ")");
}

/// "mlx5_0/1 serves", or why it does not; empty when nicmon does not say.
std::string StateLine(Client& client, const std::string& target) {
  const Answer answer = client.Get(PortPath(target, ""));
  const auto port = answer.ok() ? ParsePort(answer.body) : std::nullopt;
  if (!port) {
    return "";
  }
  return port->Name() +
         (port->serving ? " serves\n" : " does not serve: " + WhyNotServing(*port) + "\n");
}

}  // namespace

int Requery(Client& client, const Invocation& invocation) {
  const std::string& target = invocation.target;
  const Answer answer = client.Post(ParsePortName(target) ? PortPath(target, "requery")
                                                          : DevicePath(target, "requery"));
  if (!answer.ok()) {
    return Fail(answer);
  }
  const auto reply = ParseRequery(answer.body);
  if (!reply) {
    return FailUnknown();
  }
  int exit_code = kYes;
  std::vector<std::vector<std::string>> rows;
  for (const auto& [verdict, port] : reply->ports) {
    exit_code = port.serving && verdict != "query_failed" ? exit_code : kNo;
    std::string more = port.serving ? GbpsText(port.speed) + " Gb/s" : WhyNotServing(port);
    if (verdict == "query_failed") {
      more = reply->query_error;
    }
    rows.push_back({port.Name(), verdict, more});
  }
  return invocation.Has("json") ? FinishRaw(answer, exit_code)
                                : Finish(AlignedTable(rows), exit_code);
}

int Probe(Client& client, const Invocation& invocation) {
  const Answer answer = client.Post(PortPath(invocation.target, "probe"));
  if (!answer.ok()) {
    return Fail(answer);
  }
  const auto reply = ParseProbe(answer.body);
  if (!reply) {
    return FailUnknown();
  }
  const int exit_code = reply->ok() ? kYes : kNo;
  if (invocation.Has("json")) {
    return FinishRaw(answer, exit_code);
  }
  std::vector<std::vector<std::string>> rows = {{"STEP", "MS"}};
  for (const auto& [name, duration_ms] : reply->steps) {
    rows.push_back({name, MillisecondsText(duration_ms)});
    if (name == reply->failed_step) {
      rows.back().emplace_back("FAILED");
    }
  }
  std::string events;
  for (const std::string& event : reply->events) {
    events += "the device reported " + event + "\n";
  }
  return Finish(AlignedTable(rows) + events + ProbeLine(*reply) + "\n", exit_code);
}

int Pause(Client& client, const Invocation& invocation) {
  Parameters parameters = Signed(invocation, {"reason", "ttl", "until"});
  if (invocation.Has("replace")) {
    parameters.emplace_back("replace", "true");
  }
  const Answer answer = client.Post(PortPath(invocation.target, "pause"), parameters);
  if (!answer.ok()) {
    return Fail(answer);
  }
  if (invocation.Has("json")) {
    return FinishRaw(answer, kYes);
  }
  const auto reply = ParseChange(answer.body);
  if (!reply || !reply->hold) {
    return FailUnknown();
  }
  const HoldReply& hold = *reply->hold;
  const std::string end = hold.until.empty() ? "until it is resumed" : "until " + hold.until;
  const std::string replaced =
      reply->replaced ? "replaced hold " + HoldText(*reply->replaced) + "\n" : "";
  return Finish(hold.device + "/" + hold.port + " is held " + end + " (" + hold.id + ")\n" +
                    replaced + reply->effect + "\n",
                kYes);
}

int Resume(Client& client, const Invocation& invocation) {
  Parameters parameters = Signed(invocation, {"reason"});
  if (invocation.Has("hold-id")) {
    parameters.emplace_back("hold_id", invocation.Get("hold-id"));
  }
  const Answer answer = client.Post(PortPath(invocation.target, "resume"), parameters);
  if (!answer.ok()) {
    return Fail(answer);
  }
  if (invocation.Has("json")) {
    return FinishRaw(answer, kYes);
  }
  const auto reply = ParseChange(answer.body);
  if (!reply) {
    return FailUnknown();
  }
  const std::string done = reply->changed && reply->hold
                               ? "lifted hold " + HoldText(*reply->hold) + "\n"
                               : invocation.target + " was not held\n";
  return Finish(done + StateLine(client, invocation.target), kYes);
}

int Release(Client& client, const Invocation& invocation) {
  const std::string path =
      invocation.Has("all") ? "/api/v1/release" : DevicePath(invocation.target, "release");
  return FinishRelease(invocation, client.Post(path, Signed(invocation, {"reason", "ttl"})),
                       "released");
}

int Reopen(Client& client, const Invocation& invocation) {
  const std::string path =
      invocation.Has("all") ? "/api/v1/reopen" : DevicePath(invocation.target, "reopen");
  return FinishRelease(invocation, client.Post(path, Signed(invocation, {"reason"})), "open");
}

int AcceptSpeed(Client& client, const Invocation& invocation) {
  const Answer answer =
      client.Post(PortPath(invocation.target, "accept-speed"), Signed(invocation, {"reason"}));
  return Tell(invocation, answer, ParseBaseline, [](const BaselineReply& reply) {
    const bool same = reply.now == reply.before;
    return reply.device + "/" + reply.port + " has " + GbpsText(reply.now) +
           " Gb/s as its baseline" +
           (same           ? ", as before"
            : reply.before ? ", instead of " + GbpsText(reply.before)
                           : "") +
           "\n";
  });
}

int Forget(Client& client, const Invocation& invocation) {
  const Answer answer =
      client.Post(PortPath(invocation.target, "forget"), Signed(invocation, {"reason"}));
  return Tell(invocation, answer, ParseForget, [](const ForgetReply& reply) {
    const std::string port = reply.device + "/" + reply.port;
    return port + (reply.changed ? " is not required any more" : " was not required") +
           (reply.device_forgotten ? ", and " + reply.device + " is not watched until it is back"
                                   : "") +
           "\n";
  });
}

int DeleteHold(Client& client, const Invocation& invocation) {
  const Answer answer = client.Delete("/api/v1/holds/" + PercentEncode(invocation.target),
                                      Signed(invocation, {"reason"}));
  return Tell(invocation, answer, ParseChange, [](const ChangeReply& reply) {
    return reply.hold ? "dropped hold " + HoldText(*reply.hold) + " (" + reply.hold->device + "/" +
                            reply.hold->port + ")\n"
                      : "there was no hold\n";
  });
}

int LogLevel(Client& client, const Invocation& invocation) {
  const Answer answer = client.Put("/api/v1/log-level", {{"level", invocation.target}});
  return Tell(invocation, answer, ParseLevel, [](const LevelReply& reply) {
    return "nicmon logs " + reply.now + " and above until it starts again (was " + reply.before +
           ")\n";
  });
}

}  // namespace nicmon::ctl
