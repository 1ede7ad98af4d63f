#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "http/message.h"
#include "http/service.h"

namespace nicmon::http {

inline constexpr std::string_view kAny = "*";        // parameters are not looked at
inline constexpr std::string_view kRawBody = "raw";  // the handler reads the body

enum class Access { kOpen, kRead, kOperator };

struct Route {
  std::string_view method;
  std::string_view pattern;  // "{device}" takes one segment
  Access access;
  std::string_view name;        // of the action, in logs and metrics
  std::string_view parameters;  // accepted names, blank-separated
  Reply (*handler)(Call&);
};

struct Matched {
  const Route* route = nullptr;
  std::map<std::string, std::string> segments;
};

/// All of them, those of the simulator too.
std::span<const Route> Routes();

/// The route of a request's path and method, or 404, or 405 with what is allowed.
Expected<Matched> FindRoute(const Service& service, const Request& request);

}  // namespace nicmon::http
