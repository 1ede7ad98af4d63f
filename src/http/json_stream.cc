// What the event stream says, as JSON.
#include "http/json.h"
#include "http/json_elements.h"

namespace nicmon::http::json {
namespace {

Rendered Render(Json json, std::initializer_list<const char*> volatile_keys) {
  Rendered rendered;
  rendered.text = Text(json);
  for (const char* key : volatile_keys) {
    json.erase(key);
  }
  rendered.stable = Text(json);
  return rendered;
}

}  // namespace

Rendered StreamPort(const PortView& port) {
  return Render(PortJson(port), {"last_query"});
}

Rendered StreamDevice(const DeviceView& device) {
  return Render(DeviceJson(device), {"snapshot_age_seconds", "stalled_seconds"});
}

std::string StreamHold(const NodeView& view, const Transition& event) {
  for (const HoldsSnapshot::Item& item : view.holds->InForce(view.now)) {
    if (item.hold->id == event.hold) {
      return Text(KeptHoldJson(item));
    }
  }
  return "null";
}

std::string StreamSnapshot(const NodeView& view, uint64_t seq) {
  Json json = Json::object();
  json["seq"] = seq;
  std::string text = Text(json);
  text.pop_back();  // the lists are documents of their own already
  for (const std::string& part : {Devices(view), Ports(view), HoldList(view)}) {
    text += "," + part.substr(1, part.size() - 2);
  }
  return text + "}";
}

std::string StreamChange(const Transition* event, std::string_view key, std::string_view state) {
  std::string text = "{\"event\":" + (event != nullptr ? Text(EventJson(*event)) : "null") + ",\"";
  text.append(key).append("\":").append(state.empty() ? "null" : state).append("}");
  return text;
}

}  // namespace nicmon::http::json
