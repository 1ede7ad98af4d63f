#include "http/route_table.h"

#include <array>
#include <vector>

#include "http/routes.h"
#include "http/text.h"

namespace nicmon::http {
namespace {

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
    Route{"GET", "/api/v1/events", kRead, "events", "limit since before device port type format", GetEvents},
    Route{"GET", "/api/v1/stream", kRead, "stream", "", GetStream},
    Route{"GET", "/api/v1/audit", kOperator, "audit", "limit since before device port format", GetAudit},
    Route{"POST", "/api/v1/ports/{device}/{port}/requery", kOperator, "requery", "", PostPortRequery},
    Route{"POST", "/api/v1/ports/{device}/{port}/probe", kOperator, "probe", "", PostProbe},
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

/// Decoded segments of a path. A segment that would hold a slash or a control byte is refused, so
/// that no two paths mean the same route to one reader and another route to the next.
Expected<std::vector<std::string>> Segments(const std::string& path) {
  std::vector<std::string> segments;
  for (const std::string_view part : Split(std::string_view(path).substr(1), '/')) {
    const auto decoded = PercentDecode(part, false);
    if (!decoded || HasControl(*decoded) || !IsUtf8(*decoded) ||
        decoded->find('/') != std::string::npos) {
      return ErrorReply(400, "malformed_path", "the path is not validly percent-encoded", "");
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

}  // namespace

std::span<const Route> Routes() {
  return kRoutes;
}

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

}  // namespace nicmon::http
