#include "holds_text.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

namespace nicmon {
namespace {

using Json = nlohmann::ordered_json;

/// Members that an earlier reading found and did not know.
void AddExtra(Json& json, const std::string& extra) {
  if (!extra.empty()) {
    const Json members = Json::parse(extra, nullptr, false);
    for (const auto& [key, value] : members.items()) {
      if (!json.contains(key)) {
        json[key] = value;
      }
    }
  }
}

Json HoldJson(const Hold& hold) {
  Json json = {{"id", hold.id},
               {"reason", hold.reason},
               {"by", hold.by},
               {"since", Rfc3339(hold.since)},
               {"until", hold.until ? Json(Rfc3339(*hold.until)) : Json()},
               {"device", hold.device}};
  AddExtra(json, hold.extra);
  return json;
}

Json ReleaseJson(const Release& release) {
  Json json = {{"reason", release.reason},
               {"by", release.by},
               {"since", Rfc3339(release.since)},
               {"until", Rfc3339(release.until)},
               {"boot_id", release.boot_id}};
  AddExtra(json, release.extra);
  return json;
}

Json PortJson(uint32_t number, const KeptPort& port) {
  Json json = {{"port", number}, {"required", port.record.required}};
  if (port.record.baseline_bps) {
    json["baseline_speed_bps"] = *port.record.baseline_bps;
  }
  if (port.hold) {
    json["hold"] = HoldJson(*port.hold);
  }
  AddExtra(json, port.extra);
  return json;
}

Json DeviceJson(const KeptDevice& device) {
  Json json = {{"name", device.name},
               {"node_guid", device.key.node_guid},
               {"pci_address", device.key.pci_address},
               {"machine_id", device.machine_id}};
  if (device.orphaned_since) {
    json["orphaned_since"] = Rfc3339(*device.orphaned_since);
  }
  if (device.release) {
    json["release"] = ReleaseJson(*device.release);
  }
  json["ports"] = Json::array();
  for (const auto& [number, port] : device.ports) {
    if (!port.Empty()) {
      json["ports"].push_back(PortJson(number, port));
    }
  }
  AddExtra(json, device.extra);
  return json;
}

/// Takes the known members out of an object; what is left is kept as it is.
class Members {
 public:
  /// `what` names the object in a problem.
  Members(Json json, std::string what, std::vector<std::string>* problems)
      : json_(std::move(json)), what_(std::move(what)), problems_(problems) {
    if (!json_.is_object()) {
      Problem("is no object");
      json_ = Json::object();
      broken_ = true;
    }
  }

  /// Null when it is missing.
  Json Take(const char* key) {
    const auto it = json_.find(key);
    if (it == json_.end()) {
      return {};
    }
    Json value = std::move(*it);
    json_.erase(it);
    return value;
  }
  std::string Text(const char* key) {
    const Json value = Take(key);
    if (!value.is_string() && !value.is_null()) {
      Problem(std::string(key) + " is no text");
    }
    return value.is_string() ? value.get<std::string>() : "";
  }
  std::optional<uint64_t> Number(const char* key) {
    const Json value = Take(key);
    if (!value.is_number_unsigned() && !value.is_null()) {
      Problem(std::string(key) + " is no whole number");
    }
    return value.is_number_unsigned() ? std::optional(value.get<uint64_t>()) : std::nullopt;
  }
  std::optional<WallTime> Time(const char* key) {
    const std::string text = Text(key);
    const auto time = ParseRfc3339(text);
    if (!text.empty() && !time) {
      Problem(std::string(key) + " is no RFC 3339 time");
    }
    return time;
  }
  Json List(const char* key) {
    Json value = Take(key);
    if (!value.is_array() && !value.is_null()) {
      Problem(std::string(key) + " is no list");
    }
    return value.is_array() ? value : Json::array();
  }
  void Problem(const std::string& text) { problems_->push_back(what_ + ": " + text); }
  bool broken() const { return broken_; }

  std::string Rest() const { return json_.empty() ? "" : json_.dump(); }

 private:
  Json json_;
  const std::string what_;
  std::vector<std::string>* problems_;
  bool broken_ = false;
};

class Reader {
 public:
  HoldsRead Read(std::string_view text) {
    Json json = Json::parse(text, nullptr, false);
    if (json.is_discarded()) {
      read_.problems.emplace_back("the file is not JSON, or not all of it is there");
      return std::move(read_);
    }
    Members members(std::move(json), "the file", &read_.problems);
    HoldsSnapshot& state = read_.state;
    state.version =
        static_cast<int>(std::clamp<uint64_t>(members.Number("version").value_or(1), 1, 1000));
    state.next_hold = std::max<uint64_t>(members.Number("next_hold").value_or(1), 1);
    for (Json& device : members.List("devices")) {
      ReadDevice(std::move(device));
    }
    state.extra = members.Rest();
    return std::move(read_);
  }

 private:
  void ReadDevice(Json json) {
    KeptDevice device;
    device.name = json.is_object() ? json.value("name", "") : "";
    Members members(std::move(json), "device " + device.name, &read_.problems);
    device.name = members.Text("name");
    device.key.node_guid = members.Text("node_guid");
    device.key.pci_address = members.Text("pci_address");
    device.machine_id = members.Text("machine_id");
    device.orphaned_since = members.Time("orphaned_since");
    if (Json release = members.Take("release"); !release.is_null()) {
      device.release = ReadRelease(std::move(release), device.name);
    }
    for (Json& port : members.List("ports")) {
      ReadPort(std::move(port), device);
    }
    device.extra = members.Rest();
    if (!device.key.durable() && !members.broken()) {
      members.Problem("has neither a node_guid nor a pci_address");
    } else if (!members.broken()) {
      read_.state.kept[read_.state.next_kept++] = std::move(device);
    }
  }

  std::optional<Release> ReadRelease(Json json, const std::string& device) {
    Members members(std::move(json), "release of " + device, &read_.problems);
    Release release;
    release.reason = members.Text("reason");
    release.by = members.Text("by");
    release.since = members.Time("since").value_or(WallTime());
    const auto until = members.Time("until");
    release.until = until.value_or(WallTime());
    release.boot_id = members.Text("boot_id");
    release.extra = members.Rest();
    if (!until && !members.broken()) {
      members.Problem("has no end");
    }
    return until ? std::optional(release) : std::nullopt;
  }

  void ReadPort(Json json, KeptDevice& device) {
    Members members(std::move(json), "a port of " + device.name, &read_.problems);
    const auto number = members.Number("port");
    if (!number || *number == 0 || *number > UINT32_MAX) {
      if (!members.broken()) {
        members.Problem("has no number");
      }
      return;
    }
    KeptPort& port = device.ports[static_cast<uint32_t>(*number)];
    const Json required = members.Take("required");
    port.record.required = required.is_boolean() && required.get<bool>();
    port.record.baseline_bps = members.Number("baseline_speed_bps");
    if (Json hold = members.Take("hold"); !hold.is_null()) {
      port.hold = ReadHold(std::move(hold), device, static_cast<uint32_t>(*number));
    }
    port.extra = members.Rest();
  }

  /// Whatever is wrong with it, the port stays held: that is the safe side.
  Hold ReadHold(Json json, const KeptDevice& device, uint32_t port) {
    Members members(std::move(json), "hold of " + device.name + " port " + std::to_string(port),
                    &read_.problems);
    Hold hold;
    hold.id = members.Text("id");
    hold.port = {0, port};
    hold.device = members.Text("device");
    hold.reason = members.Text("reason");
    hold.by = members.Text("by");
    hold.since = members.Time("since").value_or(WallTime());
    hold.until = members.Time("until");
    hold.extra = members.Rest();
    return hold;
  }

  HoldsRead read_;
};

/// The number in an id of ours, "h12" or "hx4k9w-12"; 0: it is none.
uint64_t NumberIn(const std::string& id) {
  const size_t dash = id.rfind('-');
  const std::string number =
      id.substr(dash == std::string::npos ? std::min<size_t>(1, id.size()) : dash + 1);
  const bool ours = id.starts_with('h') && !number.empty() && number.size() < 17 &&
                    number.find_first_not_of("0123456789") == std::string::npos;
  return ours ? std::stoull(number) : 0;
}

/// Every hold has an id, and new ones get others.
void NumberHolds(HoldsSnapshot& state, const std::string& series) {
  const auto each = [&state](const auto& function) {
    for (auto& [number, device] : state.kept) {
      for (auto& [port_number, port] : device.ports) {
        if (port.hold) {
          function(*port.hold);
        }
      }
    }
  };
  each([&state](Hold& hold) {
    state.next_hold = std::max<uint64_t>(state.next_hold, NumberIn(hold.id) + 1);
  });
  each([&](Hold& hold) {
    if (hold.id.empty()) {
      hold.id = HoldId(series, state.next_hold++);
    }
  });
}

}  // namespace

std::string HoldsText(const HoldsSnapshot& state) {
  Json json = {{"version", state.version}, {"next_hold", state.next_hold}};
  json["devices"] = Json::array();
  for (const auto& [number, device] : state.kept) {
    if (device.key.durable() && !device.Empty()) {
      json["devices"].push_back(DeviceJson(device));
    }
  }
  AddExtra(json, state.extra);
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string HoldId(const std::string& series, uint64_t number) {
  return "h" + series + (series.empty() ? "" : "-") + std::to_string(number);
}

HoldsRead ReadHolds(std::string_view text, const std::string& id_series) {
  HoldsRead read = Reader().Read(text);
  NumberHolds(read.state, id_series);
  return read;
}

}  // namespace nicmon
