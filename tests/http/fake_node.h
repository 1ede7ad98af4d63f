#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "nicmon/http/backend.h"

namespace nicmon::http {

/// A node made by hand behind a Backend: snapshots the test sets, real holds, the real view. A
/// command is answered by `on_command`, which stands for the device's thread.
class FakeNode {
 public:
  using OnCommand = std::function<void(DeviceSnapshot&, const std::shared_ptr<Pending>&)>;

  FakeNode();

  /// A device with `ports` ports that are up and serve at 400 Gb/s.
  DeviceId Add(const std::string& name, const std::string& pci_address, uint32_t ports = 1);
  void Change(DeviceId id, const std::function<void(DeviceSnapshot&)>& change);
  void Remove(DeviceId id);
  /// The device's thread is stuck in a call from now on.
  void Stall(DeviceId id);

  Backend MakeBackend();

  std::shared_ptr<Holds> holds;
  OnCommand on_command;
  /// What a probe comes to; on the request's thread.
  std::function<ProbeOutcome(DeviceId, uint32_t port, Duration patience)> on_probe;
  std::function<bool(DeviceId)> on_probing;
  std::string metrics = "# TYPE nicmon_up gauge\nnicmon_up 1\n";
  bool healthy = true;
  bool discovered = true;
  ViewOptions options;
  std::vector<SimCommand> simulated;
  std::string simulate_error;
  bool with_simulator = false;
  std::vector<DeviceId> forgotten;
  int pokes = 0;
  std::vector<Transition> recorded;
  EventQuery asked;  // of the last read of the history
  bool history_broken = false;

  NodeView View();

 private:
  struct Device {
    std::shared_ptr<const DeviceSnapshot> snapshot;
    Heartbeat::Reading heartbeat;
  };
  ViewInput Input();
  std::shared_ptr<Pending> Submit(DeviceId id, CommandKind kind, uint32_t port);

  std::mutex mutex_;  // guards devices_ and what Submit touches
  std::vector<Device> devices_;
};

/// What a device's thread does with a poke: follows the release state.
void FollowRelease(const Holds& holds, DeviceSnapshot& device);

}  // namespace nicmon::http
