#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/sim/simulated_rnic.h"
#include "testing/fake_clock.h"

namespace nicmon {

/// A device whose counters are read file by file; the test turns the loop itself, on its own clock.
class DeviceMonitorStatsTest : public ::testing::Test {
 protected:
  static constexpr char kDevice[] = "rdma0";
  static constexpr char kPortPath[] = "class/infiniband/rdma0/ports/1/";
  /// Longer than files are read at a stretch.
  static constexpr Duration kSlow = std::chrono::microseconds(100);

  DeviceMonitorStatsTest() : sim_(SimulationSpec{{kDevice}, 1, 400, false}) {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->sysfs.keep = [this, keep = sim_.sysfs().keep](const std::string& path) {
      return [this, path, read = keep(path)] {
        ++reads_;
        ++files_;
        if (on_read_) {
          on_read_(path);
        }
        clock_.Advance(read_takes_);
        return read();
      };
    };
    shared->sysfs.read = [this, read = sim_.sysfs().read](const std::string& path) {
      ++files_;
      return read(path);
    };
    shared->clock = clock_.clock();
    shared->holds = holds_;
    shared->stats = std::make_shared<NodeStats>();
    shared_ = shared;
  }

  /// As discovery's first sighting; the turn opens the device.
  void Open() {
    monitor_ = std::make_unique<DeviceMonitor>(1, shared_, DeviceSighting{kDevice, -1, "uverbs0"});
    sighting_ = {kDevice, 0, "uverbs0", true};
    monitor_->OnDiscovery(sighting_);
    Turn();
  }
  // Nothing has to be waited for while a file is due, so this returns at once then.
  void Turn() { monitor_->Turn(Duration(0)); }
  /// Turns until a turn reads no file.
  void Finish() {
    for (int before = -1; before != files_;) {
      before = files_;
      Turn();
    }
  }
  void Round() {
    clock_.Advance(std::chrono::seconds(15));
    Turn();
    Finish();
  }
  void Tick() {
    clock_.Advance(std::chrono::seconds(1));
    Turn();
    Finish();
  }
  void Apply(SimCommand command) {
    command.device = kDevice;
    ASSERT_EQ(sim_.Apply(command), "");
  }
  void SetCounter(const std::string& name, uint64_t value) {
    SimCommand command;
    command.port = 1;
    command.counters[name] = value;
    Apply(command);
  }
  void SetState(int state, int event) {
    SimCommand command;
    command.port = 1;
    command.state = state;
    command.event = event;
    Apply(command);
  }
  std::optional<uint64_t> Value(const std::string& path) const {
    const auto stats = port().stats;
    if (!stats) {
      return std::nullopt;
    }
    for (size_t i = 0; i < stats->layout().files.size(); ++i) {
      if (stats->layout().files[i].path == path) {
        return stats->value(i);
      }
    }
    return std::nullopt;
  }

  std::shared_ptr<const DeviceSnapshot> snapshot() const { return monitor_->snapshot(); }
  PortSnapshot port() const { return snapshot()->ports.at(0); }
  bool link_paused() const { return port().pauses.Has(PauseReason::kLink); }

  testing::FakeClock clock_;
  SimulatedRnic sim_;
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(clock_.clock());
  std::shared_ptr<const MonitorShared> shared_;
  DeviceSighting sighting_;
  Duration read_takes_{0};                                // of a counter; nothing: all in one turn
  int reads_ = 0;                                         // of counters
  int files_ = 0;                                         // read, of any kind
  std::function<void(const std::string& path)> on_read_;  // before each read of a counter
  std::unique_ptr<DeviceMonitor> monitor_;
};

}  // namespace nicmon
