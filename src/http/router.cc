#include <algorithm>
#include <array>
#include <exception>

#include "http/access.h"
#include "http/json.h"
#include "http/routes.h"
#include "http/service.h"
#include "http/text.h"
#include "nicmon/base/log.h"

namespace nicmon::http {
namespace {

constexpr size_t kMaxParameterBytes = 1024;
constexpr std::string_view kAny = "*";        // parameters are not looked at
constexpr std::string_view kRawBody = "raw";  // the handler reads the body

enum class Access { kOpen, kRead, kOperator };

struct Route {
  std::string_view method;
  std::string_view pattern;  // "{device}" takes one segment
  Access access;
  std::string_view name;        // of the action, in logs and metrics
  std::string_view parameters;  // accepted names, blank-separated
  Reply (*handler)(Call&);
};

constexpr auto kRead = Access::kRead;
constexpr auto kOperator = Access::kOperator;

// clang-format off
constexpr std::array kRoutes = {
    Route{"GET", "/metrics", kRead, "metrics", kAny, GetMetrics},
    Route{"GET", "/healthz", Access::kOpen, "healthz", kAny, GetHealth},
    Route{"GET", "/readyz", Access::kOpen, "readyz", kAny, GetReady},
    Route{"GET", "/", kRead, "page", kAny, GetStatusPage},
    Route{"GET", "/api/v1/node", kRead, "node", "", GetNode},
    Route{"GET", "/api/v1/devices", kRead, "devices", "format", GetDevices},
    Route{"GET", "/api/v1/devices/{device}", kRead, "device", "format", GetDevice},
    Route{"GET", "/api/v1/ports", kRead, "ports", "format", GetPorts},
    Route{"GET", "/api/v1/ports/{device}/{port}", kRead, "port", "format", GetPort},
    Route{"GET", "/api/v1/holds", kRead, "holds", "format", GetHolds},
    Route{"GET", "/api/v1/select", kRead, "select", "count numa sort format", GetSelect},
    Route{"POST", "/api/v1/ports/{device}/{port}/requery", kOperator, "requery", "", PostPortRequery},
    Route{"POST", "/api/v1/ports/{device}/{port}/pause", kOperator, "pause", "reason ttl until by replace", PostPause},
    Route{"POST", "/api/v1/ports/{device}/{port}/resume", kOperator, "resume", "hold_id by reason", PostResume},
    Route{"POST", "/api/v1/ports/{device}/{port}/accept-speed", kOperator, "accept_speed", "by reason", PostAcceptSpeed},
    Route{"POST", "/api/v1/ports/{device}/{port}/forget", kOperator, "forget", "by reason", PostForget},
    Route{"DELETE", "/api/v1/holds/{id}", kOperator, "delete_hold", "by reason", DeleteHold},
    Route{"POST", "/api/v1/devices/{device}/requery", kOperator, "requery", "", PostDeviceRequery},
    Route{"POST", "/api/v1/devices/{device}/release", kOperator, "release", "reason ttl by", PostDeviceRelease},
    Route{"POST", "/api/v1/devices/{device}/reopen", kOperator, "reopen", "by reason", PostDeviceReopen},
    Route{"POST", "/api/v1/release", kOperator, "release", "reason ttl by", PostReleaseAll},
    Route{"POST", "/api/v1/reopen", kOperator, "reopen", "by reason", PostReopenAll},
    Route{"PUT", "/api/v1/log-level", kOperator, "log_level", "level", PutLogLevel},
    Route{"POST", "/api/v1/simulator", kOperator, "simulator", kRawBody, PostSimulator},
};
// clang-format on

Reply BadRequest(std::string_view code, std::string_view message, std::string_view hint = "") {
  return ErrorReply(400, code, message, hint);
}

/// Decoded segments of a path. A segment that would hold a slash or a control byte is refused, so
/// that no two paths mean the same route to one reader and another route to the next.
Expected<std::vector<std::string>> Segments(const std::string& path) {
  std::vector<std::string> segments;
  for (const std::string_view part : Split(std::string_view(path).substr(1), '/')) {
    const auto decoded = PercentDecode(part, false);
    if (!decoded || HasControl(*decoded) || !IsUtf8(*decoded) ||
        decoded->find('/') != std::string::npos) {
      return BadRequest("malformed_path", "the path is not validly percent-encoded");
    }
    segments.push_back(*decoded);
  }
  return segments;
}

bool Match(std::string_view pattern, const std::vector<std::string>& segments,
           std::map<std::string, std::string>* captured) {
  const auto parts = Split(pattern.substr(1), '/');
  if (parts.size() != segments.size()) {
    return false;
  }
  captured->clear();
  for (size_t i = 0; i < parts.size(); ++i) {
    if (!parts[i].empty() && parts[i].front() == '{') {
      if (segments[i].empty()) {
        return false;
      }
      captured->emplace(parts[i].substr(1, parts[i].size() - 2), segments[i]);
    } else if (parts[i] != segments[i]) {
      return false;
    }
  }
  return true;
}

struct Matched {
  const Route* route = nullptr;
  std::map<std::string, std::string> segments;
};

/// 404, or 405 with what is allowed.
Expected<Matched> FindRoute(const Service& service, const Request& request) {
  auto segments = Segments(request.path);
  if (!segments) {
    return segments.error;
  }
  const std::string_view asked = request.method;
  const std::string_view method = asked == "HEAD" ? "GET" : asked;
  std::string allowed;
  Matched matched;
  for (const Route& route : kRoutes) {
    const bool missing = route.handler == &PostSimulator && !service.backend.simulate;
    if (missing || !Match(route.pattern, *segments, &matched.segments)) {
      continue;
    }
    if (route.method == method) {
      matched.route = &route;
      return matched;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(route.method) +
               (route.method == "GET" ? ", HEAD" : "");
  }
  if (allowed.empty()) {
    return ErrorReply(404, "not_found", "there is no such route",
                      "see /, /metrics, /healthz, /readyz and /api/v1/ports");
  }
  Reply reply = ErrorReply(405, "method_not_allowed",
                           request.method + " does not work on this route", "use " + allowed);
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

using Pairs = std::vector<std::pair<std::string, std::string>>;

/// The body as parameters, whatever it says it is: `curl -d '{…}'` calls JSON a form.
Expected<Pairs> BodyParameters(const Request& request) {
  Pairs pairs;
  const size_t start = request.body.find_first_not_of(" \t\r\n");
  if (start == std::string::npos) {
    return pairs;
  }
  const std::string* type = request.Header("content-type");
  const std::string media = type == nullptr ? "" : Lower(Trim(type->substr(0, type->find(';'))));
  if (media == "application/json" || request.body[start] == '{') {
    if (const std::string error = json::ParseParameters(request.body, &pairs); !error.empty()) {
      return BadRequest("malformed_body", error);
    }
    return pairs;
  }
  if (!media.empty() && media != "application/x-www-form-urlencoded") {
    return BadRequest("malformed_body", "a body of this Content-Type is not taken",
                      "send a form (curl -d name=value) or a JSON object");
  }
  auto form = ParseForm(Trim(request.body));
  return form ? Expected<Pairs>(std::move(*form))
              : BadRequest("malformed_body", "the form is not validly percent-encoded");
}

/// Query and body together; a name may come once.
Expected<std::map<std::string, std::string>> Parameters(const Route& route,
                                                        const Request& request) {
  std::map<std::string, std::string> out;
  if (route.parameters == kAny) {
    return out;
  }
  auto query = ParseForm(request.query);
  if (!query) {
    return BadRequest("malformed_query", "the query is not validly percent-encoded");
  }
  if (route.method != "GET" && route.parameters != kRawBody) {
    auto body = BodyParameters(request);
    if (!body) {
      return body.error;
    }
    query->insert(query->end(), body->begin(), body->end());
  }
  const auto accepted = Split(route.parameters, ' ');
  for (const auto& [name, value] : *query) {
    const std::string shown = Printable(name).substr(0, 64);
    if (name.empty() || std::find(accepted.begin(), accepted.end(), name) == accepted.end() ||
        route.parameters == kRawBody) {
      return BadRequest("unknown_parameter", "there is no parameter \"" + shown + "\" here",
                        route.parameters.empty() || route.parameters == kRawBody
                            ? "this route takes none"
                            : "accepted: " + std::string(route.parameters));
    }
    if (!IsUtf8(value) || HasControl(value) || value.size() > kMaxParameterBytes) {
      return BadRequest("invalid_parameter", "the value of \"" + shown + "\" cannot be taken",
                        "one line of UTF-8, at most 1024 bytes");
    }
    if (!out.emplace(name, value).second) {
      return BadRequest("duplicate_parameter", "\"" + shown + "\" is given more than once");
    }
  }
  return out;
}

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
  }
}

/// One line with everything that is needed to do it again.
void LogAction(const Route& route, const Call& call, const Reply& reply) {
  const bool ok = reply.status < 400;
  call.service.stats->AdminAction(std::string(route.name), ok ? "ok" : "error");
  const Audit& audit = call.audit;
  std::vector<log::Field> fields = {{"action", std::string(route.name)},
                                    {"who", call.who},
                                    {"by", audit.by.empty() ? call.By() : audit.by},
                                    {"device", audit.device},
                                    {"port", audit.port},
                                    {"reason", audit.reason},
                                    {"until", audit.until},
                                    {"hold", audit.hold},
                                    {"status", std::to_string(reply.status)}};
  std::erase_if(fields, [](const log::Field& field) { return field.value.empty(); });
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
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.headers.emplace_back("X-Content-Type-Options", "nosniff");
  return reply;
}

}  // namespace nicmon::http
