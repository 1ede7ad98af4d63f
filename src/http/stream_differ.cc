#include "http/stream_differ.h"

#include <algorithm>
#include <set>

#include "http/json.h"

namespace nicmon::http {
namespace {

using PortId = std::pair<DeviceId, uint32_t>;

/// One server-sent event. JSON has no line feeds in it, so the data is one line.
std::string Frame(std::string_view name, uint64_t id, const std::string& data) {
  std::string frame = "event: ";
  frame.append(name).append("\n");
  if (id != 0) {
    frame.append("id: ").append(std::to_string(id)).append("\n");
  }
  return frame.append("data: ").append(data).append("\n\n");
}

const DeviceView* FindByName(const NodeView& view, const std::string& name) {
  for (const DeviceView& device : view.devices) {
    if (device.data->name == name) {
      return &device;
    }
  }
  return nullptr;
}

const PortView* FindPortOf(const DeviceView* device, uint32_t number) {
  if (device != nullptr) {
    for (const PortView& port : device->ports) {
      if (port.data->number == number) {
        return &port;
      }
    }
  }
  return nullptr;
}

/// Which state an event of that type is about; empty: it is not for the stream.
std::string_view KeyOf(TransitionType type) {
  switch (type) {
    case TransitionType::kAudit:
      return "";
    case TransitionType::kDevice:
      return "device";
    case TransitionType::kHold:
      return "hold";
    default:
      return "port";
  }
}

}  // namespace

std::string StreamDiffer::Snapshot(const NodeView& view, uint64_t seq) const {
  return Frame("snapshot", seq, json::StreamSnapshot(view, about_, seq));
}

std::vector<std::string> StreamDiffer::Events(const NodeView& view, const StreamTurn& turn) {
  std::vector<std::string> out;
  holds_ = json::StreamHolds(view);
  if (turn.resync || Vanished(view)) {
    out.push_back(Snapshot(view, turn.seq));
    Remember(view);
    return out;
  }
  Tell(view, turn.records, &out);
  // A hold changes its port, a device all of its ports.
  const bool more = std::any_of(turn.records.begin(), turn.records.end(), [](const auto& event) {
    return event.type == TransitionType::kHold || event.type == TransitionType::kDevice;
  });
  if (turn.refresh || more) {
    TellChanges(view, &out);
  }
  return out;
}

/// Whether a client knows a device or port that is not there any more, or under another name: names
/// are all it can tell them by.
bool StreamDiffer::Vanished(const NodeView& view) const {
  size_t devices = 0;
  size_t ports = 0;
  for (const DeviceView& device : view.devices) {
    const auto name = names_.find(device.data->id);
    if (name != names_.end() && name->second != device.data->name) {
      return true;
    }
    devices += name != names_.end() ? 1 : 0;
    for (const PortView& port : device.ports) {
      ports += ports_.count({device.data->id, port.data->number});
    }
  }
  return devices < names_.size() || ports < ports_.size();
}

void StreamDiffer::Remember(const NodeView& view) {
  node_ = json::StreamNode(view, about_).stable;
  told_holds_ = holds_;
  names_.clear();
  devices_.clear();
  ports_.clear();
  for (const DeviceView& device : view.devices) {
    names_[device.data->id] = device.data->name;
    devices_[device.data->id] = json::StreamDevice(device).stable;
    for (const PortView& port : device.ports) {
      ports_[{device.data->id, port.data->number}] = json::StreamPort(port).stable;
    }
  }
}

void StreamDiffer::Tell(const NodeView& view, const std::vector<Transition>& records,
                        std::vector<std::string>* out) {
  // A burst has many records of one port: its state goes with the last of them only.
  std::vector<std::string> frames;
  std::set<std::pair<std::string, std::pair<std::string, uint32_t>>> told;
  for (auto event = records.rbegin(); event != records.rend(); ++event) {
    const std::string_view key = KeyOf(event->type);
    if (key.empty()) {
      continue;
    }
    if (key == "hold") {
      frames.push_back(Frame(key, event->seq, TellHold(*event)));
      continue;
    }
    std::string state;
    if (told.emplace(key, std::pair(event->device, event->port)).second) {
      const DeviceView* device = FindByName(view, event->device);
      const PortView* port = FindPortOf(device, event->port);
      if (key == "device" && device != nullptr) {
        json::Rendered rendered = json::StreamDevice(*device);
        state = std::move(rendered.text);
        names_[device->data->id] = device->data->name;
        devices_[device->data->id] = std::move(rendered.stable);
      } else if (key == "port" && port != nullptr) {
        json::Rendered rendered = json::StreamPort(*port);
        state = std::move(rendered.text);
        ports_[{device->data->id, event->port}] = std::move(rendered.stable);
      }
    }
    frames.push_back(Frame(key, event->seq, json::StreamChange(&*event, key, state)));
  }
  out->insert(out->end(), std::make_move_iterator(frames.rbegin()),
              std::make_move_iterator(frames.rend()));
}

std::string StreamDiffer::TellHold(const Transition& event) {
  const auto found = holds_.find(event.hold);
  if (found == holds_.end()) {
    told_holds_.erase(event.hold);
    return json::StreamHoldChange(&event, event.hold, "");
  }
  told_holds_[event.hold] = found->second;
  return json::StreamHoldChange(&event, event.hold, found->second);
}

/// What no record tells: a hold is orphaned, its device is back, its time is over.
void StreamDiffer::TellHolds(std::vector<std::string>* out) {
  for (const auto& [id, state] : holds_) {
    const auto told = told_holds_.find(id);
    if (told == told_holds_.end() || told->second != state) {
      out->push_back(Frame("hold", 0, json::StreamHoldChange(nullptr, id, state)));
    }
  }
  for (const auto& [id, state] : told_holds_) {
    if (holds_.count(id) == 0) {
      out->push_back(Frame("hold", 0, json::StreamHoldChange(nullptr, id, "")));
    }
  }
  told_holds_ = holds_;
}

void StreamDiffer::TellChanges(const NodeView& view, std::vector<std::string>* out) {
  const auto tell = [out](std::string_view key, json::Rendered rendered, std::string* known) {
    if (*known != rendered.stable) {
      *known = std::move(rendered.stable);
      out->push_back(Frame(key, 0, json::StreamChange(nullptr, key, rendered.text)));
    }
  };
  TellHolds(out);
  for (const DeviceView& device : view.devices) {
    names_[device.data->id] = device.data->name;
    tell("device", json::StreamDevice(device), &devices_[device.data->id]);
    for (const PortView& port : device.ports) {
      tell("port", json::StreamPort(port), &ports_[PortId(device.data->id, port.data->number)]);
    }
  }
  tell("node", json::StreamNode(view, about_), &node_);  // counts what was told before it
}

}  // namespace nicmon::http
