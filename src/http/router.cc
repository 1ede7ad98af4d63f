#include <algorithm>
#include <exception>

#include "http/access.h"
#include "http/json.h"
#include "http/parameters.h"
#include "http/records.h"
#include "http/route_table.h"
#include "http/service.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

void LogRefusal(Service& service, const Route& route, const Request& request, int status) {
  service.stats->AdminAction(std::string(route.name), "denied");
  service.stats->Rejected(status == 401 ? "unauthorized" : "forbidden");
  std::optional<uint64_t> left_out;
  {
    std::lock_guard lock(service.refusals_mutex);
    left_out = service.refusals.Allow("refused", service.backend.clock.steady());
  }
  if (left_out) {
    log::Warning("operator request refused", {{"action", std::string(route.name)},
                                              {"peer", request.peer.address},
                                              {"status", std::to_string(status)},
                                              {"left_out", std::to_string(*left_out)}});
    TellRefused(service, request, route.name, status, *left_out);
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
                                    {"device", audit.device},
                                    {"port", audit.port},
                                    {"reason", audit.reason},
                                    {"until", audit.until},
                                    {"hold", audit.hold},
                                    {"held_by", audit.held_by},
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
  if (const auto device = call.segments.find("device"); device != call.segments.end()) {
    call.audit.device = device->second;
  }
  if (const auto port = call.segments.find("port"); port != call.segments.end()) {
    call.audit.port = port->second;
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

Reply RouteRequest(Service& service, const Request& request) {
  auto matched = FindRoute(service, request);
  const bool open = matched && matched->route->access == Access::kOpen;
  const std::string* host = request.Header("host");
  if (!open && !request.peer.admin_socket && host != nullptr && IsForeign(service, *host)) {
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
  std::string who;
  if (route.access == Access::kOperator) {
    auto authorized = AuthorizeOperator(service, request);
    if (!authorized) {
      LogRefusal(service, route, request, authorized.error.status);
      return authorized.error;
    }
    who = *authorized;
  }
  return Authorized(service, request, *matched, who);
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

Reply Dispatch(Service& service, const Request& request) {
  if (service.tokens != nullptr) {
    service.tokens->Poll();
  }
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
  return reply;
}

}  // namespace nicmon::http
