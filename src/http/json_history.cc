// What was, as JSON: events and audit.
#include "http/json.h"
#include "http/json_elements.h"

namespace nicmon::http::json {
namespace {

Json AuditJson(const Transition& event) {
  return {{"seq", event.seq},
          {"time", Rfc3339(event.time)},
          {"action", event.cause},
          {"device", Str(event.device)},
          {"port", event.port != 0 ? Json(event.port) : Json()},
          {"who", Str(event.who)},
          {"by", Str(event.by)},
          {"reason", Str(event.note)},
          {"until", Str(event.until)},
          {"hold", Str(event.hold)},
          {"held_by", Str(event.before)},
          {"replaced", Str(event.replaced)},
          {"result", Str(event.after)},
          {"status", event.status}};
}

template <typename ToJson>
std::string List(const char* key, const EventPage& page, ToJson to_json) {
  Json list = Json::array();
  for (const Transition& event : page.events) {
    list.push_back(to_json(event));
  }
  Json json = Json::object();
  json[key] = std::move(list);
  json["next"] = Opt(page.next);
  return Text(json);
}

}  // namespace

Json EventJson(const Transition& event) {
  return {{"seq", event.seq},
          {"time", Rfc3339(event.time)},
          {"type", std::string(TransitionTypeName(event.type))},
          {"device", Str(event.device)},
          {"port", event.port != 0 ? Json(event.port) : Json()},
          {"cause", Str(event.cause)},
          {"before", Str(event.before)},
          {"after", Str(event.after)},
          {"note", Str(event.note)},
          {"by", Str(event.by)},
          {"hold", Str(event.hold)},
          {"until", Str(event.until)}};
}

std::string Events(const EventPage& page) {
  return List("events", page, EventJson);
}

std::string AuditList(const EventPage& page) {
  return List("audit", page, AuditJson);
}

}  // namespace nicmon::http::json
