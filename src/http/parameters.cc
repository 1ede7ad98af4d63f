#include "http/parameters.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "http/json.h"
#include "http/text.h"
#include "nicmon/base/text.h"

namespace nicmon::http {
namespace {

constexpr size_t kMaxParameterBytes = 1024;

Reply BadRequest(std::string_view code, std::string_view message, std::string_view hint = "") {
  return ErrorReply(400, code, message, hint);
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

/// Why one parameter cannot be taken, if so.
std::optional<Reply> Refusal(const Route& route, const std::string& name,
                             const std::string& value) {
  const std::string shown = "\"" + Printable(name).substr(0, 64) + "\"";
  const bool none = route.parameters.empty() || route.parameters == kRawBody;
  const auto accepted = Split(route.parameters, ' ');
  if (none || name.empty() || std::find(accepted.begin(), accepted.end(), name) == accepted.end()) {
    return BadRequest(
        "unknown_parameter", "there is no parameter " + shown + " here",
        none ? "this route takes none" : "accepted: " + std::string(route.parameters));
  }
  if (!IsPlainLine(value) || value.size() > kMaxParameterBytes) {
    return BadRequest("invalid_parameter", "the value of " + shown + " cannot be taken",
                      "one line of UTF-8 without control characters, at most 1024 bytes");
  }
  return std::nullopt;
}

}  // namespace

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
  for (const auto& [name, value] : *query) {
    if (auto refusal = Refusal(route, name, value)) {
      return *refusal;
    }
    if (!out.emplace(name, Trim(value)).second) {
      return BadRequest("duplicate_parameter", "\"" + name + "\" is given more than once");
    }
  }
  return out;
}

}  // namespace nicmon::http
