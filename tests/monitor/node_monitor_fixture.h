#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "nicmon/monitor/node_monitor.h"
#include "nicmon/sim/simulated_rnic.h"

namespace nicmon {

/// The whole monitor with its threads over three simulated devices, in real time at a fast tick.
class NodeMonitorTest : public ::testing::Test {
 protected:
  NodeMonitorTest() { options_.tick = std::chrono::milliseconds(100); }
  ~NodeMonitorTest() override {
    sim_.EndHangs();
    if (monitor_) {
      EXPECT_TRUE(monitor_->Stop(std::chrono::seconds(10)));
    }
    monitor_.reset();
    EXPECT_EQ(sim_.Held(), SimHeld{});
  }

  void Start() {
    view_options_.tick = options_.tick;
    options_.discovery_interval = std::chrono::milliseconds(50);
    monitor_ =
        std::make_unique<NodeMonitor>(sim_.verbs(), sim_.sysfs(), Clock::Real(), options_, holds_);
    monitor_->Start();
  }

  NodeView View() const {
    ViewInput input = monitor_->Read();
    input.holds = holds_->snapshot();
    input.now_steady = Clock::Real().steady();
    input.now_wall = Clock::Real().wall();
    return BuildView(view_options_, input);
  }
  static const DeviceView* Find(const NodeView& view, const std::string& name) {
    for (const DeviceView& device : view.devices) {
      if (device.data->name == name) {
        return &device;
      }
    }
    return nullptr;
  }
  bool Status(const std::string& name, DeviceStatus status) const {
    const NodeView view = View();
    const DeviceView* device = Find(view, name);
    return device != nullptr && device->data->status == status;
  }
  bool AllServe(size_t devices) const {
    const NodeView view = View();
    return view.devices.size() == devices && view.ports_serving == devices;
  }
  void Apply(SimCommand command, const std::string& device) {
    command.device = device;
    ASSERT_EQ(sim_.Apply(command), "");
  }

  SimulatedRnic sim_{SimulationSpec{{"a", "b", "c"}, 1, 400, false}};
  NodeMonitorOptions options_{.watch_device = [](const std::string&) { return true; }};
  ViewOptions view_options_;
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(Clock::Real());
  std::unique_ptr<NodeMonitor> monitor_;
};

}  // namespace nicmon
