#include "http/records.h"

#include <utility>

#include "http/access.h"
#include "http/text.h"

namespace nicmon::http {
namespace {

void Tell(const Service& service, Transition event) {
  if (service.backend.record) {
    event.time = service.backend.clock.wall();
    service.backend.record(std::move(event));
  }
}

uint32_t PortNumber(const std::string& text) {
  const auto number = ParseNumber(text);
  return number && *number <= UINT32_MAX ? static_cast<uint32_t>(*number) : 0;
}

}  // namespace

void TellHold(const Call& call, const std::string& cause, const Hold& hold,
              const std::string& device, bool held, const Hold* replaced) {
  Transition event;
  event.type = TransitionType::kHold;
  event.device = device;
  event.port = hold.port.second;
  event.cause = cause;
  const Hold* before = held ? replaced : &hold;
  event.before = before == nullptr ? "" : "held by " + before->by;
  event.after = held ? "held" : "";
  event.note = hold.reason;
  event.by = call.By();
  event.hold = hold.id;
  event.until = hold.until ? Rfc3339(*hold.until) : "";
  Tell(call.service, std::move(event));
}

void TellRelease(const Call& call, const std::string& device, bool released,
                 const Release* before) {
  Transition event;
  event.type = TransitionType::kHold;
  event.device = device;
  event.cause = released ? "release" : "reopen";
  event.before = before == nullptr ? "" : "released by " + before->by;
  event.after = released ? "released" : "";
  event.note = call.audit.reason;
  event.by = call.By();
  event.until = call.audit.until;
  Tell(call.service, std::move(event));
}

std::string InWords(const Hold& hold) {
  return hold.id + " by " + hold.by + " since " + Rfc3339(hold.since) + " until " +
         (hold.until ? Rfc3339(*hold.until) : "resumed") + ": " + hold.reason;
}

std::string InWords(const Release& release, const std::string& device) {
  return device + " by " + release.by + " since " + Rfc3339(release.since) + " until " +
         Rfc3339(release.until) + ": " + release.reason;
}

void TellAction(const Call& call, std::string_view action, int status) {
  if (call.request.method == "GET" || call.request.method == "HEAD") {
    return;  // reading the audit is no action
  }
  const Audit& audit = call.audit;
  const std::string* by = call.Find("by");
  Transition event;
  event.type = TransitionType::kAudit;
  event.device = audit.device;
  event.port = PortNumber(audit.port);
  event.cause = action;
  event.before = audit.held_by;
  event.after = status < 400 ? "ok" : "error";
  event.note = audit.found.empty() ? audit.reason : audit.found;
  event.by = by != nullptr ? *by : "";
  event.who = call.who;
  event.hold = audit.hold;
  event.until = audit.until == "none" ? "" : audit.until;
  event.replaced = audit.replaced;
  event.status = status;
  Tell(call.service, std::move(event));
}

void TellRefused(const Service& service, const Request& request, std::string_view action,
                 const Audit& about, int status, uint64_t left_out) {
  Transition event;
  event.type = TransitionType::kAudit;
  event.device = about.device;
  event.port = PortNumber(about.port);
  event.cause = action;
  event.after = "denied";
  event.note = "from " + PeerName(request.peer);
  event.note += left_out > 0 ? ", after " + std::to_string(left_out) + " that are not listed" : "";
  event.status = status;
  Tell(service, std::move(event));
}

}  // namespace nicmon::http
