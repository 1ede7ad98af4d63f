// For Slurm's HealthCheckProgram and node-problem-detector: one line on standard output, whatever
// it says, because that is what they show.
#include "ctl/check.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/outcome.h"
#include "ctl/text.h"

namespace nicmon::ctl {
namespace {

bool FastEnough(const PortReply& port, const CheckOptions& options) {
  return !options.min_speed || (port.speed && *port.speed >= *options.min_speed);
}

bool OnPurpose(const PortReply& port) {
  return port.Paused("admin") || port.Paused("released");
}

std::string Problem(const PortReply& port) {
  if (!port.serving) {
    return port.Name() + " " + WhyNotServing(port);
  }
  return port.Name() + (port.speed ? " " + GbpsText(port.speed) + " Gb/s" : " speed unknown");
}

template <typename T>
bool ReadNumber(const Invocation& invocation, const std::string& flag, std::optional<T>* out) {
  if (!invocation.Has(flag)) {
    return true;
  }
  const std::string text = invocation.Get(flag);
  T number{};
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  *out = number;
  return error == std::errc() && stop == text.data() + text.size() && number >= T{0};
}

int Unknown(const std::string& why) {
  return Finish("UNKNOWN: " + why + "\n", kCannot);
}

}  // namespace

Verdict Judge(const std::vector<PortReply>& ports, const CheckOptions& options) {
  uint64_t good = 0;
  uint64_t aside = 0;
  uint64_t bad = 0;
  std::string problems;
  for (const PortReply& port : ports) {
    if (port.serving && FastEnough(port, options)) {
      ++good;
      continue;
    }
    const bool excused = !options.expect_ports && (OnPurpose(port) || !port.required);
    if (excused) {
      ++aside;
      continue;
    }
    ++bad;
    problems += (problems.empty() ? "" : ", ") + Problem(port);
  }
  const std::string counted =
      std::to_string(good) + " of " +
      std::to_string(std::max(options.expect_ports.value_or(good + bad), good)) + " ports serve" +
      (options.min_speed ? " at full speed" : "");
  const bool fine = options.expect_ports ? good >= *options.expect_ports : bad == 0 && good > 0;
  if (fine) {
    return {kYes, counted + (aside > 0 ? ", " + std::to_string(aside) + " set aside" : "")};
  }
  if (ports.empty()) {
    problems = "nicmon knows no port";
  } else if (problems.empty()) {
    problems = aside > 0 ? std::to_string(aside) + " set aside" : "no more are known";
  }
  return {kNo, counted + ": " + problems};
}

int Check(Client& client, const Invocation& invocation) {
  CheckOptions options;
  if (!ReadNumber(invocation, "expect-ports", &options.expect_ports)) {
    PrintError("flag --expect-ports: give a whole number");
    return kCannot;
  }
  if (!ReadNumber(invocation, "min-speed", &options.min_speed)) {
    PrintError("flag --min-speed: give a number of Gb/s");
    return kCannot;
  }
  const Answer node_answer = client.Get("/api/v1/node");
  const Answer answer = node_answer.ok() ? client.Get("/api/v1/ports") : node_answer;
  if (!answer.ok()) {
    return Unknown(Describe(answer).text);
  }
  const auto node = ParseNode(node_answer.body);
  const auto ports = ParsePorts(answer.body);
  if (!node || !ports) {
    return Unknown("the answer is not understood");
  }
  if (!node->discovered) {
    return Unknown("nicmon has just started and is still looking for devices");
  }
  const Verdict verdict = Judge(*ports, options);
  if (invocation.Has("json")) {
    return FinishRaw(answer, verdict.exit_code);
  }
  const std::string note = node->discovery_note.empty() ? "" : " (" + node->discovery_note + ")";
  return Finish((verdict.exit_code == kYes ? "OK: " : "PROBLEM: ") + verdict.text + note + "\n",
                verdict.exit_code);
}

}  // namespace nicmon::ctl
