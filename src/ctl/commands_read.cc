// What only looks.
#include "ctl/client.h"
#include "ctl/commands.h"
#include "ctl/outcome.h"
#include "ctl/replies.h"
#include "ctl/text.h"
#include "nicmon/base/terminal_text.h"

namespace nicmon::ctl {
namespace {

/// Prints a route that has a table of its own.
int Show(Client& client, const Invocation& invocation, const std::string& path,
         Parameters parameters = {}) {
  if (!invocation.Has("json")) {
    parameters.emplace_back("format", "text");
  }
  const Answer answer = client.Get(path, parameters);
  if (!answer.ok()) {
    return Fail(answer);
  }
  return invocation.Has("json") ? FinishRaw(answer, kYes) : Finish(answer.body, kYes);
}

std::string OrDash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string SelectTable(const SelectReply& reply) {
  std::vector<std::vector<std::string>> rows = {
      {"PORT", "GBPS", "FREE_GBPS", "NUMA", "NETDEV", "PCI"}};
  for (const SelectReply::Port& port : reply.ports) {
    rows.push_back({port.name, GbpsText(port.speed), GbpsText(port.estimate),
                    OrDash(port.numa_node), OrDash(port.netdev), OrDash(port.pci_address)});
  }
  return AlignedTable(rows);
}

}  // namespace

int Ports(Client& client, const Invocation& invocation) {
  const std::string& target = invocation.target;
  return Show(client, invocation, target.empty() ? "/api/v1/ports" : PortPath(target, ""));
}

int Devices(Client& client, const Invocation& invocation) {
  const std::string& target = invocation.target;
  return Show(client, invocation, target.empty() ? "/api/v1/devices" : DevicePath(target, ""));
}

int Holds(Client& client, const Invocation& invocation) {
  return Show(client, invocation, "/api/v1/holds");
}

int Events(Client& client, const Invocation& invocation) {
  return Show(client, invocation, "/api/v1/events",
              Given(invocation, {"limit", "since", "before", "device", "port", "type"}));
}

int AuditLog(Client& client, const Invocation& invocation) {
  return Show(client, invocation, "/api/v1/audit",
              Given(invocation, {"limit", "since", "before", "device", "port"}));
}

int Select(Client& client, const Invocation& invocation) {
  const std::string format = invocation.Get("format");
  if (invocation.Has("format") && (format == "json" || invocation.Has("json"))) {
    PrintError("--format is nccl or ucx; for JSON give --json alone");
    return kCannot;
  }
  const Answer answer =
      client.Get("/api/v1/select", Given(invocation, {"count", "numa", "sort", "format"}));
  if (answer.status == 503 && !answer.reason.empty()) {
    PrintError(answer.reason);
    return kNo;
  }
  if (!answer.ok()) {
    return Fail(answer);
  }
  int exit_code = kYes;
  if (invocation.Has("count") && answer.count != invocation.Get("count")) {
    PrintError("only " + answer.count + " of " + invocation.Get("count") + " ports serve");
    exit_code = kNo;
  }
  if (invocation.Has("format") || invocation.Has("json")) {
    return FinishRaw(answer, exit_code);
  }
  const auto reply = ParseSelect(answer.body);
  return reply ? Finish(SelectTable(*reply), exit_code) : FailUnknown();
}

int Health(Client& client, const Invocation& invocation) {
  const Answer health = client.Get("/healthz");
  if (!health.ok()) {
    return Fail(health);
  }
  if (invocation.Has("json")) {
    return FinishRaw(health, kYes);
  }
  const auto ready = ParseNode(client.Get("/readyz").body);
  if (!ready) {
    return FailUnknown();
  }
  std::string text = "nicmon works; " + std::string(ready->ready ? "ready" : "not ready") + ", " +
                     std::to_string(ready->ports_up) + " of " + std::to_string(ready->ports) +
                     " ports up, " + std::to_string(ready->ports_serving) + " serving";
  text += ready->discovery_note.empty() ? "" : " (" + ready->discovery_note + ")";
  return Finish(text + "\n", kYes);
}

}  // namespace nicmon::ctl
