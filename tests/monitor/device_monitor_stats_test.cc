#include <gmock/gmock.h>

#include <cerrno>

#include "monitor/device_stats_fixture.h"

// What a device and its ports have of counters while it opens, closes and changes, turn by turn.
namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::seconds;
using ::testing::HasSubstr;

TEST_F(DeviceMonitorStatsTest, APortHasItsCountersSoonAfterTheOpen) {
  SetCounter("link_downed", 3);
  SetCounter("a_new_one", 4);
  read_takes_ = kSlow;
  Open();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen) << "the open does not wait for files";
  EXPECT_EQ(port().stats, std::nullopt);
  Finish();
  EXPECT_EQ(Value("counters/link_downed"), 3U);
  EXPECT_EQ(Value("hw_counters/a_new_one"), 4U);
  EXPECT_EQ(snapshot()->stats, std::nullopt) << "the device has none of its own";
  SetCounter("link_downed", 4);
  Round();
  EXPECT_EQ(Value("counters/link_downed"), 4U);
}

TEST_F(DeviceMonitorStatsTest, AClosedDeviceHasNoCountersAndItsCountOfResetsStays) {
  SetCounter("link_downed", 3);
  Open();
  Finish();
  SetCounter("link_downed", 1);
  Round();
  EXPECT_EQ(port().counts.stat_resets, 1U);
  SimCommand unplug;
  unplug.unplug = true;
  Apply(unplug);
  Turn();
  ASSERT_EQ(snapshot()->status, DeviceStatus::kFatal);
  EXPECT_EQ(port().stats, std::nullopt);
  EXPECT_EQ(port().counts.stat_resets, 1U);
  const int before = reads_;
  Round();
  EXPECT_EQ(reads_, before) << "nothing is read of a device that is not open";

  SimCommand plug;
  plug.plug = true;
  Apply(plug);
  sighting_.kernel_index = 1;
  monitor_->OnDiscovery(sighting_);
  Turn();
  Finish();
  ASSERT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_EQ(Value("counters/link_downed"), 0U);
  EXPECT_EQ(port().counts.stat_resets, 2U) << "1 became 0 meanwhile";
}

TEST_F(DeviceMonitorStatsTest, AReleasedDeviceIsLeftAlone) {
  Open();
  Finish();
  holds_->SetRelease(1, {"maintenance", "ann", clock_.wall(), clock_.wall() + hours(1)});
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  ASSERT_EQ(snapshot()->status, DeviceStatus::kReleased);
  EXPECT_EQ(port().stats, std::nullopt);
  const int before = reads_;
  Round();
  EXPECT_EQ(reads_, before);
}

TEST_F(DeviceMonitorStatsTest, ADeniedDeviceIsSampledToo) {
  SimCommand fail;
  fail.fail = SimCommand::Fail{"open_device", EACCES, 1000, 0};
  Apply(fail);
  SetCounter("link_downed", 3);
  Open();
  Finish();
  ASSERT_EQ(snapshot()->status, DeviceStatus::kDenied);
  EXPECT_EQ(Value("counters/link_downed"), 3U);
  SetCounter("link_downed", 4);
  Round();
  EXPECT_EQ(Value("counters/link_downed"), 4U);
}

TEST_F(DeviceMonitorStatsTest, CountersOfTheDeviceItselfGoWithItsCloseToo) {
  const std::string path = "class/infiniband/rdma0/hw_counters/submitted_cmds";
  ASSERT_EQ(sim_.SetFile(path, {0, "5\n"}), "");
  Open();
  Finish();
  ASSERT_NE(snapshot()->stats, std::nullopt);
  EXPECT_EQ(snapshot()->stats->value(0), 5U);
  holds_->SetRelease(1, {"maintenance", "ann", clock_.wall(), clock_.wall() + hours(1)});
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  EXPECT_EQ(snapshot()->stats, std::nullopt);
}

TEST_F(DeviceMonitorStatsTest, ARenamedDeviceIsReadUnderItsNewName) {
  SetCounter("link_downed", 3);
  Open();
  Finish();
  SimCommand rename;
  rename.rename = "ibp1s0";
  Apply(rename);
  sighting_.name = "ibp1s0";
  monitor_->OnDiscovery(sighting_);
  Round();
  EXPECT_EQ(Value("counters/link_downed"), 3U);
  EXPECT_EQ(snapshot()->sysfs_read_errors, 0U);
  EXPECT_EQ(port().counts.stat_resets, 0U);
}

TEST_F(DeviceMonitorStatsTest, ReadErrorsAreCountedAcrossCloses) {
  ASSERT_EQ(sim_.SetFile(std::string(kPortPath) + "counters/link_downed", {EIO, ""}), "");
  Open();
  Finish();
  EXPECT_EQ(snapshot()->sysfs_read_errors, 1U);
  EXPECT_EQ(Value("counters/link_downed"), std::nullopt);
  EXPECT_TRUE(Value("counters/symbol_error"));
  SimCommand unplug;
  unplug.unplug = true;
  Apply(unplug);
  Turn();
  EXPECT_EQ(snapshot()->sysfs_read_errors, 1U);
}

TEST_F(DeviceMonitorStatsTest, TheEstimateTakesOffWhatFlows) {
  Open();
  Finish();
  constexpr uint64_t kWords = 400'000'000'000 / 8 / 4;  // a second at line rate
  EXPECT_DOUBLE_EQ(*port().estimate_bytes_per_second, kWords * 4.0);
  uint64_t words = 0;
  for (int i = 0; i < 60; ++i) {
    words += kWords / 4;
    SetCounter("port_rcv_data", words);
    SetCounter("port_xmit_data", words / 2);
    Tick();
  }
  EXPECT_EQ(port().stats->rx_bytes_per_second, kWords * 1.0);
  EXPECT_EQ(port().stats->tx_bytes_per_second, kWords * 0.5);
  EXPECT_NEAR(*port().estimate_bytes_per_second / (kWords * 4.0), 0.75, 0.001)
      << "the busier direction counts";
}

TEST_F(DeviceMonitorStatsTest, ADeviceWithoutAnyCountersIsToldOnceWithTheRemedy) {
  ASSERT_EQ(sim_.RemoveFile(std::string(kPortPath) + "counters"), "");
  ASSERT_EQ(sim_.RemoveFile(std::string(kPortPath) + "hw_counters"), "");
  ::testing::internal::CaptureStderr();
  Open();
  Finish();
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("hostNetwork"));
  ASSERT_NE(port().stats, std::nullopt);
  EXPECT_FALSE(port().stats->layout().counters);
  EXPECT_FALSE(port().stats->layout().hw_counters);
  ::testing::internal::CaptureStderr();
  holds_->SetRelease(1, {"maintenance", "ann", clock_.wall(), clock_.wall() + seconds(1)});
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  clock_.Advance(seconds(2));
  Turn();
  Finish();
  ASSERT_EQ(snapshot()->opens_ok, 2U);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), ::testing::Not(HasSubstr("hostNetwork")));
}

}  // namespace
}  // namespace nicmon
