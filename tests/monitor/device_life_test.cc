#include <infiniband/verbs.h>

#include <cerrno>

#include "monitor/device_monitor_fixture.h"

// A device that fails, leaves, returns, is renamed or denied, turn by turn.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST_F(DeviceMonitorTest, EioOnEveryPortForFiveTicksClosesAndReopens) {
  Fail("query_port", EIO, 5);
  for (int i = 0; i < 4; ++i) {
    Tick();
    EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen) << i;
  }
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kFatal);
  EXPECT_TRUE(paused(PauseReason::kFatal));
  EXPECT_EQ(sim_.Held(), SimHeld{});
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_FALSE(port().pauses.paused());
}

TEST_F(DeviceMonitorTest, OtherQueryErrorsNeverClose) {
  Fail("query_port", ETIMEDOUT, 100);
  for (int i = 0; i < 20; ++i) {
    Tick();
  }
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_EQ(counts().queries_failed, 20U);
  EXPECT_EQ(snapshot()->opens_ok, 1U);
}

TEST_F(DeviceMonitorTest, AnAsyncReadErrorIsCountedAndDoesNotSpin) {
  Fail("get_async_event", EBADF, 1'000'000);
  Event(IBV_EVENT_PORT_ERR);
  const uint64_t before = sim_.Calls("get_async_event");
  Turn();
  Turn();
  EXPECT_LE(sim_.Calls("get_async_event") - before, 2U);
  EXPECT_GE(snapshot()->async_read_errors, 1U);
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
}

TEST_F(DeviceMonitorTest, EioFromTheAsyncQueueCloses) {
  Fail("get_async_event", EIO, 1);
  Event(IBV_EVENT_PORT_ERR);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kFatal);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
}

TEST_F(DeviceMonitorTest, DeviceFatalClosesAtOnceAndBacksOff) {
  Unplug(false);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kFatal);
  EXPECT_TRUE(paused(PauseReason::kFatal));
  EXPECT_FALSE(port().state);
  EXPECT_EQ(sim_.Held(), SimHeld{});
  EXPECT_EQ(snapshot()->events[IBV_EVENT_DEVICE_FATAL], 1U);
  for (int i = 0; i < 70; ++i) {
    Tick();
  }
  // 1, 2, 4, 8, 16, 30 s after the close
  EXPECT_EQ(snapshot()->opens_failed, 6U);
  EXPECT_TRUE(paused(PauseReason::kFatal)) << "no tick revives it";
}

TEST_F(DeviceMonitorTest, ANewIndexReopensAtOnce) {
  Unplug(false);
  Turn();
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kAbsent);
  for (int i = 0; i < 10; ++i) {
    Tick();
  }
  EXPECT_EQ(snapshot()->opens_failed, 0U) << "an absent device is not tried";
  Plug();
  monitor_->OnDiscovery(sighting_);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_EQ(snapshot()->kernel_index, sighting_.kernel_index);
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(snapshot()->opens_ok, 2U);
}

TEST_F(DeviceMonitorTest, ASilentRemovalIsLetGo) {
  Unplug(true);
  Tick();
  EXPECT_TRUE(port().up()) << "the driver still answers";
  EXPECT_TRUE(sim_.RemovalPending(kDevice));
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  EXPECT_FALSE(sim_.RemovalPending(kDevice));
  EXPECT_EQ(snapshot()->status, DeviceStatus::kAbsent);
}

TEST_F(DeviceMonitorTest, RenameKeepsTheContext) {
  SimCommand command;
  command.device = kDevice;
  command.rename = "rocep1s0";
  Apply(command);
  sighting_.name = "rocep1s0";
  monitor_->OnDiscovery(sighting_);
  Turn();
  EXPECT_EQ(snapshot()->name, "rocep1s0");
  EXPECT_EQ(snapshot()->opens_ok, 1U);
  EXPECT_EQ(snapshot()->id, 1U);
}

TEST_F(DeviceMonitorTest, ARenamedDeviceCanBeReopened) {
  SimCommand command;
  command.device = kDevice;
  command.rename = "rocep1s0";
  Apply(command);
  sighting_.name = "rocep1s0";
  monitor_->OnDiscovery(sighting_);
  holds_->SetRelease(1, {"x", "", clock_.wall(), clock_.wall() + seconds(60)});
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  holds_->ClearRelease(1);
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen) << snapshot()->detail;
}

TEST_F(DeviceMonitorTest, DeniedIsReadFromSysfsUntilItOpens) {
  Unplug(false);
  Turn();
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  Plug();
  Fail("open_device", EACCES, 2);
  SetState(kStateDown);
  monitor_->OnDiscovery(sighting_);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kDenied);
  EXPECT_NE(snapshot()->detail.find("/dev/infiniband/uverbs0"), std::string::npos);
  EXPECT_EQ(port().state, kStateDown);
  SetState(kStateActive);
  clock_.Advance(milliseconds(999));
  Turn();
  EXPECT_EQ(port().state, kStateDown);
  Tick();
  EXPECT_TRUE(port().up());
  EXPECT_EQ(port().speed_source, SpeedSource::kSysfs);
  EXPECT_EQ(port().effective_speed_bps, 400'000'000'000U);
  for (int i = 0; i < 4; ++i) {
    Tick();
  }
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_EQ(port().speed_source, SpeedSource::kVerb);
}

}  // namespace
}  // namespace nicmon
