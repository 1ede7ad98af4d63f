#include <algorithm>
#include <exception>

#include "http/access.h"
#include "http/json.h"
#include "http/lookup.h"
#include "http/parameters.h"
#include "http/records.h"
#include "http/route_table.h"
#include "http/routes.h"
#include "http/service.h"
#include "http/text.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

const char* ReasonOf(int status) {
  return status == 401 ? "unauthorized" : status == 429 ? "rate_limit" : "forbidden";
}

/// What the path says that an action is about.
Audit About(const Service& service, const Matched& matched) {
  Audit about;
  if (const auto device = matched.segments.find("device"); device != matched.segments.end()) {
    about.device = NameNow(service.backend.view(), device->second);
  }
  if (const auto port = matched.segments.find("port"); port != matched.segments.end()) {
    about.port = port->second;
  }
  const bool of_all =
      matched.route->handler == &PostReleaseAll || matched.route->handler == &PostReopenAll;
  if (of_all) {
    about.device = kAllDevices;
  }
  return about;
}

/// The same of a request by nobody knows whom: what is no device and port is not repeated.
Audit AboutKnown(const Service& service, const Matched& matched) {
  Audit about = About(service, matched);
  about.port = ParseNumber(about.port) ? about.port : "";
  const NodeView view = service.backend.view();
  const bool known = about.device == kAllDevices ||
                     std::any_of(view.devices.begin(), view.devices.end(), [&](const auto& device) {
                       return device.data->name == about.device;
                     });
  return known ? about : Audit();
}

/// `who`: as far as it is verified.
void LogRefusal(Service& service, const Matched& matched, const Request& request,
                const Reply& reply, const std::string& who) {
  const Route& route = *matched.route;
  const bool action = route.access == Access::kOperator;
  if (action) {
    service.stats->AdminAction(std::string(route.name), "denied");
  }
  service.stats->Rejected(ReasonOf(reply.status));
  std::optional<uint64_t> left_out;
  {
    std::lock_guard lock(service.refusals_mutex);
    left_out = service.refusals.Allow(action ? "action" : "read", service.backend.clock.steady());
  }
  if (!left_out) {
    return;
  }
  const Audit about = action ? AboutKnown(service, matched) : Audit();
  std::vector<log::Field> fields = {{"action", std::string(route.name)},
                                    {"peer", PeerName(request.peer)},
                                    {"device", about.device},
                                    {"port", about.port},
                                    {"who", who},
                                    {"certificate", request.peer.certificate},
                                    {"status", std::to_string(reply.status)},
                                    {"left_out", std::to_string(*left_out)}};
  std::erase_if(fields, [](const log::Field& field) { return field.value.empty(); });
  log::WriteFields(log::Level::kWarning, action ? "operator request refused" : "request refused",
                   fields);
  if (action) {
    TellRefused(service, request, route.name, about, reply.status, *left_out);
  }
}

/// One line with everything that is needed to do it again.
void LogAction(const Route& route, const Call& call, const Reply& reply) {
  const bool ok = reply.status < 400;
  call.service.stats->AdminAction(std::string(route.name), ok ? "ok" : "error");
  const Audit& audit = call.audit;
  std::vector<log::Field> fields = {{"action", std::string(route.name)},
                                    {"who", call.who},
                                    {"by", call.By()},
                                    {"peer", call.request.peer.address},
                                    {"device", audit.device},
                                    {"port", audit.port},
                                    {"reason", audit.reason},
                                    {"until", audit.until},
                                    {"hold", audit.hold},
                                    {"held_by", audit.held_by},
                                    {"replaced", audit.replaced},
                                    {"found", audit.found},
                                    {"status", std::to_string(reply.status)},
                                    {"again", audit.again}};
  std::erase_if(fields, [](const log::Field& field) { return field.value.empty(); });
  TellAction(call, route.name, reply.status);
  log::WriteFields(ok ? log::Level::kInfo : log::Level::kWarning, "operator action", fields);
}

Reply Authorized(Service& service, const Request& request, const Matched& matched,
                 const std::string& who) {
  const Route& route = *matched.route;
  Call call{service, request, matched.segments, {}, who, {}};
  if (route.access == Access::kOperator) {
    call.audit = About(service, matched);
  }
  auto parameters = Parameters(route, request);
  Reply reply;
  if (!parameters) {
    reply = parameters.error;
  } else {
    call.parameters = *parameters;
    if (const std::string* reason = call.Find("reason"); reason != nullptr) {
      call.audit.reason = *reason;
    }
    reply = route.handler(call);
  }
  if (route.access == Access::kOperator) {
    LogAction(route, call, reply);
  }
  return reply;
}

/// The view is only asked when the cheap answers do not do.
bool IsForeign(const Service& service, const std::string& host) {
  return !IsOwnHost(host, service.host_name, "") &&
         !IsOwnHost(host, service.host_name, service.backend.view().node_name);
}

/// Who sends it, where that matters, or the reply that says why it is not answered.
Expected<std::string> Admit(Service& service, const Matched& matched, const Request& request) {
  const Route& route = *matched.route;
  if (route.access == Access::kOpen) {
    return std::string();
  }
  if (route.access == Access::kRead) {
    auto refused = RefuseRead(service, request);
    if (refused) {
      LogRefusal(service, matched, request, *refused, "");
    }
    return refused ? Expected<std::string>(std::move(*refused)) : std::string();
  }
  auto who = AuthorizeOperator(service, request);
  if (!who) {
    LogRefusal(service, matched, request, who.error, "");
    return who;
  }
  Allowance& allowance = request.peer.admin_socket ? service.socket_actions : service.token_actions;
  const SteadyTime now = service.backend.clock.steady();
  // A test drives its simulator as fast as it likes.
  const auto wait = route.handler == &PostSimulator ? std::nullopt : allowance.Take(*who, now);
  if (!wait) {
    return who;
  }
  Reply reply = TooMany("too many operator requests by " + *who,
                        "slow down: a loop over all ports once a second is fine", *wait);
  LogRefusal(service, matched, request, reply, *who);
  return reply;
}

Reply RouteRequest(Service& service, const Request& request) {
  auto matched = FindRoute(service, request);
  const bool open = matched && matched->route->access == Access::kOpen;
  const std::string* host = request.Header("host");
  // With TLS a browser has seen from the certificate that the name is ours.
  const bool any_host = open || request.peer.admin_socket || request.peer.tls;
  if (!any_host && host != nullptr && IsForeign(service, *host)) {
    service.stats->Rejected("foreign_host");
    return ErrorReply(403, "foreign_host", "the Host header does not name this node",
                      "use an address, localhost or the node's own name");
  }
  if (!matched) {
    return matched.error;
  }
  const Route& route = *matched->route;
  if (route.method != "GET" && IsCrossSite(request)) {
    service.stats->Rejected("cross_site");
    return ErrorReply(403, "cross_site", "a browser sent this for another site",
                      "operator routes are for curl and scripts");
  }
  auto who = Admit(service, *matched, request);
  return who ? Authorized(service, request, *matched, *who) : who.error;
}

/// The headers that the web config gives to every reply over TCP, unless the reply has its own.
void AddConfiguredHeaders(const Service& service, const Request& request, Reply* reply) {
  if (service.web == nullptr || request.peer.admin_socket) {
    return;
  }
  for (const auto& header : service.web->current()->settings.headers) {
    const bool own = std::any_of(reply->headers.begin(), reply->headers.end(),
                                 [&](const auto& one) { return one.first == header.first; });
    if (!own) {
      reply->headers.push_back(header);
    }
  }
}

}  // namespace

Reply ErrorReply(int status, std::string_view code, std::string_view message,
                 std::string_view hint) {
  return JsonReply(status, json::Error(code, message, hint));
}

Reply JsonReply(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.body = std::move(body) + "\n";
  return reply;
}

Reply TextReply(int status, std::string body) {
  Reply reply;
  reply.status = status;
  reply.content_type = "text/plain; charset=utf-8";
  reply.body = std::move(body);
  return reply;
}

void LookForChanges(Service& service, uint64_t id) {
  const Reread tokens = service.tokens == nullptr ? Reread::kUnchanged : service.tokens->Poll();
  const Reread web = service.web == nullptr ? Reread::kUnchanged : service.web->Poll();
  const bool taken = tokens == Reread::kTaken || web == Reread::kTaken;
  if (taken && service.end_connections) {
    service.end_connections(id);
  }
}

Reply Dispatch(Service& service, const Request& request) {
  LookForChanges(service, 0);
  Reply reply;
  try {
    reply = RouteRequest(service, request);
  } catch (const std::exception& error) {
    // One of the two places that catch: a request must never end the monitor.
    log::Error("request failed", {{"path", request.path}, {"error", error.what()}});
    reply = ErrorReply(503, "internal_error", "the request failed", "see nicmon's log");
    reply.headers.emplace_back("Retry-After", "1");
  }
  const auto is_caching = [](const auto& header) { return header.first == "Cache-Control"; };
  if (std::none_of(reply.headers.begin(), reply.headers.end(), is_caching)) {
    reply.headers.emplace_back("Cache-Control", "no-store");
  }
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  AddConfiguredHeaders(service, request, &reply);
  return reply;
}

}  // namespace nicmon::http
