#include "http/fake_node.h"

#include <algorithm>

namespace nicmon::http {
namespace {

PortSnapshot UpPort(uint32_t number) {
  PortSnapshot port;
  port.number = number;
  port.state = kStateActive;
  port.physical_state = kPhysicalLinkUp;
  port.link_layer = "Ethernet";
  port.effective_speed_bps = port.nominal_speed_bps = 400'000'000'000;
  port.speed_source = SpeedSource::kEncoded;
  port.lanes = 4;
  port.lane_speed = "NDR";
  port.mtu_bytes = 4096;
  port.last_query = std::chrono::system_clock::now();
  port.last_query_steady = std::chrono::steady_clock::now();
  return port;
}

}  // namespace

FakeNode::FakeNode() : holds(std::make_shared<Holds>(Clock::Real())) {
  options.node_name = "gpu-1";
  options.tick = std::chrono::hours(1);  // nothing goes stale by itself
  on_command = [this](DeviceSnapshot& device, const std::shared_ptr<Pending>& pending) {
    if (!pending->Start()) {
      return;
    }
    CommandResult result;
    result.before = std::make_shared<DeviceSnapshot>(device);
    FollowRelease(*holds, device);
    result.after = std::make_shared<DeviceSnapshot>(device);
    pending->Finish(std::move(result));
  };
  on_probe = [](DeviceId, uint32_t, Duration) {
    return ProbeOutcome{ProbeOutcome::Code::kDone, {}};
  };
  on_probing = [](DeviceId) { return false; };
}

DeviceId FakeNode::Add(const std::string& name, const std::string& pci_address, uint32_t ports) {
  auto snapshot = std::make_shared<DeviceSnapshot>();
  std::lock_guard lock(mutex_);
  snapshot->id = static_cast<DeviceId>(devices_.size() + 1);
  snapshot->name = name;
  snapshot->status = DeviceStatus::kOpen;
  snapshot->identity.pci_address = pci_address;
  for (uint32_t number = 1; number <= ports; ++number) {
    snapshot->ports.push_back(UpPort(number));
  }
  devices_.push_back({snapshot, {}});
  return snapshot->id;
}

void FakeNode::Change(DeviceId id, const std::function<void(DeviceSnapshot&)>& change) {
  std::lock_guard lock(mutex_);
  for (Device& device : devices_) {
    if (device.snapshot->id == id) {
      auto next = std::make_shared<DeviceSnapshot>(*device.snapshot);
      change(*next);
      device.snapshot = next;
    }
  }
}

void FakeNode::Remove(DeviceId id) {
  std::lock_guard lock(mutex_);
  std::erase_if(devices_, [id](const Device& device) { return device.snapshot->id == id; });
}

void FakeNode::Stall(DeviceId id) {
  std::lock_guard lock(mutex_);
  for (Device& device : devices_) {
    if (device.snapshot->id == id) {
      device.heartbeat = {"query_port", std::chrono::steady_clock::now() - std::chrono::hours(24)};
    }
  }
}

ViewInput FakeNode::Input() {
  ViewInput input;
  std::lock_guard lock(mutex_);
  for (const Device& device : devices_) {
    input.devices.push_back({device.snapshot, device.heartbeat});
  }
  input.holds = holds->snapshot();
  input.discovered = discovered;
  input.now_steady = std::chrono::steady_clock::now();
  input.now_wall = std::chrono::system_clock::now();
  return input;
}

NodeView FakeNode::View() {
  return BuildView(options, Input());
}

std::shared_ptr<Pending> FakeNode::Submit(DeviceId id, CommandKind kind, uint32_t port) {
  auto pending = std::make_shared<Pending>(kind, port);
  bool found = false;
  Change(id, [&](DeviceSnapshot& device) {
    found = true;
    pokes += kind == CommandKind::kPoke ? 1 : 0;
    on_command(device, pending);
  });
  return found ? pending : nullptr;
}

Backend FakeNode::MakeBackend() {
  Backend backend;
  backend.view = [this] { return View(); };
  backend.view_of = [this](std::shared_ptr<const DeviceSnapshot> snapshot) {
    const ViewInput input = Input();
    return BuildDeviceView(options, {std::move(snapshot), {}}, input.holds, input.now_steady,
                           input.now_wall);
  };
  backend.submit = [this](DeviceId id, CommandKind kind, uint32_t port) {
    return Submit(id, kind, port);
  };
  backend.probe = [this](DeviceId id, uint32_t port, Duration patience) {
    return on_probe(id, port, patience);
  };
  backend.probing = [this](DeviceId id) { return on_probing(id); };
  backend.forget_device = [this](DeviceId id) {
    forgotten.push_back(id);
    Remove(id);
    return true;
  };
  backend.holds = holds;
  backend.record = [this](Transition event) {
    std::lock_guard lock(mutex_);
    event.seq = recorded.size() + 1;
    recorded.push_back(std::move(event));
  };
  backend.events = [this](const EventQuery& query) {
    std::lock_guard lock(mutex_);
    EventPage page;
    page.failed = history_broken;
    asked = query;
    for (auto it = recorded.rbegin(); it != recorded.rend(); ++it) {
      if (Matches(query, *it) && page.events.size() < query.limit) {
        page.events.push_back(*it);
        page.next = it->seq;
      }
    }
    return page;
  };
  backend.metrics = [this] { return metrics; };
  backend.healthy = [this] { return healthy; };
  if (with_simulator) {
    backend.simulate = [this](const SimCommand& command) {
      if (!simulate_error.empty() && !simulated.empty()) {
        return simulate_error;
      }
      simulated.push_back(command);
      return std::string();
    };
  }
  backend.clock = Clock::Real();
  backend.version = "1.2.3";
  return backend;
}

void FollowRelease(const Holds& holds, DeviceSnapshot& device) {
  const bool released =
      holds.snapshot()->FindRelease(device.id, std::chrono::system_clock::now()) != nullptr;
  if (released) {
    device.status = DeviceStatus::kReleased;
  } else if (device.status == DeviceStatus::kReleased) {
    device.status = DeviceStatus::kOpen;
  }
}

}  // namespace nicmon::http
