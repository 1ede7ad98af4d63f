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

Rendered StreamNode(const NodeView& view, const About& about) {
  return Render(NodeJson(view, about), {"time"});
}

Rendered StreamPort(const PortView& port) {
  return Render(PortJson(port), {"last_query"});
}

Rendered StreamDevice(const DeviceView& device) {
  return Render(DeviceJson(device), {"snapshot_age_seconds", "stalled_seconds"});
}

std::map<std::string, std::string> StreamHolds(const NodeView& view) {
  std::map<std::string, std::string> holds;
  for (const HoldsSnapshot::Item& item : view.holds->InForce(view.now)) {
    holds[item.hold->id] = Text(KeptHoldJson(item));
  }
  return holds;
}

std::string StreamSnapshot(const NodeView& view, const About& about, uint64_t seq) {
  Json json = Json::object();
  json["seq"] = seq;
  json["node"] = NodeJson(view, about);
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

std::string StreamHoldChange(const Transition* event, const std::string& id,
                             std::string_view state) {
  std::string text = StreamChange(event, "hold", state);
  text.pop_back();
  return text + ",\"id\":" + Text(Str(id)) + "}";
}

}  // namespace nicmon::http::json
