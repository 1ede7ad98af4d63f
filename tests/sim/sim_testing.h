#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>

#include "nicmon/sim/simulated_rnic.h"
#include "nicmon/verbs/handles.h"

namespace nicmon {

/// A simulated node with its tables, and the little that every test of it does.
class SimTest : public ::testing::Test {
 protected:
  static SimulationSpec Spec(const std::string& text) {
    std::string error;
    auto spec = ParseSimulationSpec(text, &error);
    EXPECT_TRUE(spec) << error;
    return *spec;
  }

  explicit SimTest(const std::string& spec = "devices=2") : rnic_(Spec(spec)) {}

  /// Opens a listed device by its present name, its async fd non-blocking.
  ContextHandle Open(const std::string& name) {
    int error = 0;
    const DeviceList list = DeviceList::Get(verbs_, &error);
    for (ibv_device* device : list.devices()) {
      if (verbs_->get_device_name(device) == name) {
        ContextHandle context = OpenDevice(verbs_, device, &error);
        EXPECT_EQ(error, 0);
        EXPECT_EQ(::fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
        return context;
      }
    }
    ADD_FAILURE() << "no device " << name;
    return nullptr;
  }

  size_t ListSize() {
    int error = 0;
    return DeviceList::Get(verbs_, &error).devices().size();
  }

  std::string Text(const std::string& path) { return sysfs_.read(path).text; }

  SimulatedRnic rnic_;
  std::shared_ptr<const VerbsApi> verbs_ = rnic_.verbs();
  SysfsFiles sysfs_ = rnic_.sysfs();
};

/// Longer than any test may last.
inline constexpr std::chrono::seconds kLong{60};

inline SimCommand ForDevice(const std::string& name) {
  SimCommand command;
  command.device = name;
  return command;
}

}  // namespace nicmon
