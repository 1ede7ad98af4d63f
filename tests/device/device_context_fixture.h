#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "nicmon/device/device_context.h"
#include "nicmon/sim/simulated_rnic.h"

namespace nicmon {

inline int OpenFds() {
  int count = 0;
  for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    ++count;
  }
  return count;
}

/// Two devices of two ports; verbs can be wrapped one by one through `api_`.
class DeviceContextTest : public ::testing::Test {
 protected:
  static SimulationSpec Spec() {
    SimulationSpec spec;
    spec.names = {"a0", "b0"};
    spec.ports = 2;
    spec.speed_gbps = 400;
    return spec;
  }
  static AcquireOptions Watching(const std::string& name = "a0") {
    AcquireOptions options;
    options.name = name;
    return options;
  }
  static AcquireOptions Strict() {
    AcquireOptions options;
    options.name = "a0";
    options.port = 1;
    options.need_data_path = true;
    options.need_gid = true;
    options.channels = 2;
    options.data_cqs = 3;
    options.notification_cqs = 1;
    return options;
  }
  void Command(const std::function<void(SimCommand&)>& fill) {
    SimCommand command;
    command.device = "a0";
    fill(command);
    ASSERT_EQ(sim_.Apply(command), "");
  }
  void FailVerb(const std::string& verb, int error, uint32_t skip = 0, uint32_t times = 1) {
    Command([&](SimCommand& command) {
      command.fail = SimCommand::Fail{verb, error, times, skip};
    });
  }
  void SetState(int state, uint32_t port = 1) {
    Command([&](SimCommand& command) {
      command.port = port;
      command.state = state;
    });
  }
  std::unique_ptr<DeviceContext> Acquire(AcquireOptions options) {
    return std::make_unique<DeviceContext>(api_, epoll_, std::move(options));
  }
  /// Expects the acquisition to fail at `step`, and that nothing is held then.
  void ExpectFailure(AcquireOptions options, AcquireStep step, int error) {
    const int fds = OpenFds();
    try {
      Acquire(std::move(options));
      ADD_FAILURE() << "acquired";
    } catch (const AcquireError& e) {
      EXPECT_EQ(AcquireStepName(e.step()), AcquireStepName(step)) << e.what();
      EXPECT_EQ(e.error(), error) << e.what();
      EXPECT_THAT(e.what(), ::testing::HasSubstr("a0: "));
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos);
    }
    EXPECT_EQ(sim_.Held(), SimHeld{});
    EXPECT_EQ(OpenFds(), fds);
  }
  /// The same, and that the next attempt works.
  void ExpectOneFailure(AcquireStep step, int error) {
    ExpectFailure(Strict(), step, error);
    EXPECT_NE(Acquire(Strict()), nullptr);
    EXPECT_EQ(sim_.Held(), SimHeld{});
  }
  /// A table of our own to wrap functions of.
  VerbsApi& Wrap() {
    auto copy = std::make_shared<VerbsApi>(*sim_.verbs());
    VerbsApi& reference = *copy;
    api_ = std::move(copy);
    return reference;
  }

  SimulatedRnic sim_{Spec()};
  std::shared_ptr<const VerbsApi> api_ = sim_.verbs();
  Epoll epoll_;
};

}  // namespace nicmon
