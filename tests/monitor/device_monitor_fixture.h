#pragma once

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/sim/simulated_rnic.h"
#include "testing/fake_clock.h"

namespace nicmon {

/// One device of one port or more under a monitor whose loop the test turns itself, on its own
/// clock.
class DeviceMonitorTest : public ::testing::Test {
 protected:
  static constexpr char kDevice[] = "rdma0";
  static constexpr int kPolling = 2;

  explicit DeviceMonitorTest(uint32_t ports = 1, Duration settle = Duration(0),
                             DataPathMode data_path = DataPathMode::kOnDemand)
      : sim_(SimulationSpec{{kDevice}, ports, 400, false}) {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->clock = clock_.clock();
    shared->holds = holds_;
    shared->stats = std::make_shared<NodeStats>();
    shared->settle = settle;
    shared->data_path = data_path;
    shared_ = shared;
    sighting_ = {kDevice, 0, "uverbs0", true};
    monitor_ = std::make_unique<DeviceMonitor>(1, shared_, sighting_);
    sighting_.kernel_index = ListedIndex();
    monitor_->OnDiscovery(sighting_);
    Turn();
  }

  int ListedIndex() {
    int count = 0;
    ibv_device** list = sim_.verbs()->get_device_list(&count);
    const int index = count > 0 ? sim_.verbs()->get_device_index(list[0]) : -1;
    sim_.verbs()->free_device_list(list);
    return index;
  }

  void Turn() { monitor_->Turn(Duration(0)); }
  void Tick() {
    clock_.Advance(std::chrono::seconds(1));
    Turn();
  }
  void Apply(const SimCommand& command) { ASSERT_EQ(sim_.Apply(command), ""); }
  static SimCommand Command(uint32_t port = 1) {
    SimCommand command;
    command.device = kDevice;
    command.port = port;
    return command;
  }
  void SetState(int state, std::optional<int> event = std::nullopt, uint32_t port = 1) {
    SimCommand command = Command(port);
    command.state = state;
    command.physical_state = state == kStateActive ? kPhysicalLinkUp : kPolling;
    command.event = event;
    Apply(command);
  }
  void Event(int event, uint32_t repeat = 1, uint32_t port = 1) {
    SimCommand command = Command(port);
    command.event = event;
    command.repeat = repeat;
    Apply(command);
  }
  void Fail(const std::string& verb, int error, uint32_t times) {
    SimCommand command;
    command.device = kDevice;
    command.fail = SimCommand::Fail{verb, error, times, 0};
    Apply(command);
  }
  void Unplug(bool silent) {
    SimCommand command;
    command.device = kDevice;
    command.unplug = true;
    command.silent = silent;
    Apply(command);
  }
  void Plug() {
    SimCommand command;
    command.device = kDevice;
    command.plug = true;
    Apply(command);
    sighting_.kernel_index = ListedIndex();
  }

  std::shared_ptr<const DeviceSnapshot> snapshot() const { return monitor_->snapshot(); }
  PortSnapshot port(uint32_t number = 1) const { return snapshot()->ports.at(number - 1); }
  PortCounts counts(uint32_t number = 1) const { return port(number).counts; }
  bool paused(PauseReason reason) const { return port().pauses.Has(reason); }

  testing::FakeClock clock_;
  SimulatedRnic sim_;
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(clock_.clock());
  std::shared_ptr<const MonitorShared> shared_;
  DeviceSighting sighting_;
  std::unique_ptr<DeviceMonitor> monitor_;
};

}  // namespace nicmon
