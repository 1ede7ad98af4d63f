// What a command says in reply, as JSON, and errors.
#include <chrono>
#include <cmath>

#include "http/json.h"
#include "http/json_elements.h"

namespace nicmon::http::json {
namespace {

Json ErrorJson(std::string_view code, std::string_view message, std::string_view hint) {
  return {{"error",
           {{"code", std::string(code)}, {"message", std::string(message)}, {"hint", Str(hint)}}}};
}

Json PortOrNull(const PortView* port) {
  return port == nullptr ? Json() : PortJson(*port);
}

Json ChangeJson(const PortChange& change) {
  Json json = Json::object();
  json["port"] = change.port;
  json["before"] = PortOrNull(change.before);
  json["after"] = PortOrNull(change.after);
  json["changed"] = Changed(change.before, change.after);
  json["verdict"] = change.verdict;
  return json;
}

/// Of a release of one device, or of one among all.
Json ReleasedJson(const DeviceStatus& device) {
  Json json = Json::object();
  json["device"] = device.device;
  json["status"] = device.status;
  json["replaced"] = Json();
  if (const Release* replaced = device.replaced; replaced != nullptr) {
    json["replaced"] = {{"reason", replaced->reason},
                        {"by", Str(replaced->by)},
                        {"since", Rfc3339(replaced->since)},
                        {"until", Rfc3339(replaced->until)}};
  }
  return json;
}

template <typename ToJson>
std::string Statuses(std::string_view status, const std::vector<DeviceStatus>& devices,
                     const Json& until, ToJson to_json) {
  Json json = Json::object();
  json["status"] = std::string(status);
  if (!until.is_null()) {
    json["until"] = until;
  }
  json["devices"] = Json::array();
  for (const DeviceStatus& device : devices) {
    json["devices"].push_back(to_json(device));
  }
  return Text(json);
}

Json Milliseconds(double value) {
  return std::round(value * 1000) / 1000;
}

Json Milliseconds(Duration duration) {
  return Milliseconds(std::chrono::duration<double, std::milli>(duration).count());
}

}  // namespace

std::string Error(std::string_view code, std::string_view message, std::string_view hint) {
  return Text(ErrorJson(code, message, hint));
}

std::string HeldError(std::string_view code, std::string_view message, std::string_view hint,
                      const Hold& hold, const std::string& device, bool orphaned) {
  Json json = ErrorJson(code, message, hint);
  json["hold"] = HoldJson(hold, device, orphaned);
  return Text(json);
}

std::string Object(const std::vector<std::pair<std::string, Value>>& members) {
  Json json = Json::object();
  for (const auto& [key, value] : members) {
    std::visit([&json, &name = key](const auto& v) { json[name] = v; }, value);
  }
  return Text(json);
}

std::string Paused(const Hold& hold, const Hold* replaced, const std::string& device, bool durable,
                   std::string_view effect) {
  Json json = Json::object();
  json["hold"] = HoldJson(hold, device, false);
  json["replaced"] = replaced == nullptr ? Json() : HoldJson(*replaced, device, false);
  json["until"] = Time(hold.until);
  json["durable"] = durable;
  json["effect"] = std::string(effect);
  return Text(json);
}

std::string Resumed(bool changed, const Hold* hold, const std::string& device) {
  Json json = Json::object();
  json["changed"] = changed;
  json["hold"] = hold == nullptr ? Json() : HoldJson(*hold, device, false);
  return Text(json);
}

bool Changed(const PortView* before, const PortView* after) {
  if (before == nullptr || after == nullptr) {
    return before != after;
  }
  Json a = PortJson(*before);
  Json b = PortJson(*after);
  for (const char* volatile_key : {"last_query", "rx_gbps", "tx_gbps"}) {
    a.erase(volatile_key);
    b.erase(volatile_key);
  }
  return a != b;
}

std::string PortRequery(const std::string& device, const PortChange& change, double duration_ms,
                        const std::string& query_error) {
  Json json = Json::object();
  json["device"] = device;
  json.update(ChangeJson(change));
  json["duration_ms"] = Milliseconds(duration_ms);
  json["query_error"] = Str(query_error);
  return Text(json);
}

std::string DeviceRequery(const std::string& device, const std::vector<PortChange>& changes,
                          double duration_ms, const std::string& query_error) {
  Json json = Json::object();
  json["device"] = device;
  json["changed"] = false;
  json["duration_ms"] = Milliseconds(duration_ms);
  json["query_error"] = Str(query_error);
  json["ports"] = Json::array();
  for (const PortChange& change : changes) {
    json["ports"].push_back(ChangeJson(change));
    json["changed"] = json["changed"].get<bool>() || Changed(change.before, change.after);
  }
  return Text(json);
}

std::string Probe(const std::string& device, uint32_t port, const ProbeResult& result) {
  Json json = Json::object();
  json["device"] = device;
  json["port"] = port;
  json["result"] = result.ok() ? "ok" : "failed";
  json["failed_step"] = result.failed ? Str(ProbeStepName(*result.failed)) : Json();
  json["error"] = Str(result.error);
  json["hint"] = Str(result.hint);
  json["gid"] = result.gid ? GidJson(*result.gid) : Json();
  json["duration_ms"] = Milliseconds(result.total);
  json["steps"] = Json::array();
  for (const ProbeResult::Timed& timed : result.steps) {
    json["steps"].push_back({{"step", std::string(ProbeStepName(timed.step))},
                             {"duration_ms", Milliseconds(timed.took)}});
  }
  json["events"] = result.events;
  return Text(json);
}

std::string Released(const DeviceStatus& device, WallTime until) {
  Json json = ReleasedJson(device);
  json["until"] = Rfc3339(until);
  return Text(json);
}

std::string ReleasedAll(std::string_view status, const std::vector<DeviceStatus>& devices,
                        WallTime until) {
  return Statuses(status, devices, Rfc3339(until), ReleasedJson);
}

std::string ReopenedAll(std::string_view status, const std::vector<DeviceStatus>& devices) {
  return Statuses(status, devices, {}, [](const DeviceStatus& device) {
    return Json{{"device", device.device}, {"status", device.status}};
  });
}

}  // namespace nicmon::http::json
