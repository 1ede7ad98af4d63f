#include <infiniband/verbs.h>

#include "monitor/device_monitor_fixture.h"

// What others ask of a device's loop: commands, its stop, releases. Turn by turn.
namespace nicmon {
namespace {

using std::chrono::seconds;

TEST_F(DeviceMonitorTest, RequeryRecoversAndShowsBeforeAndAfter) {
  SetState(kStateDown, IBV_EVENT_PORT_ERR);
  Turn();
  SetState(kStateActive);
  const auto command = monitor_->Submit(CommandKind::kRequery, 1);
  Turn();
  CommandResult result;
  ASSERT_EQ(command->Wait(Duration(0), &result), Pending::State::kDone);
  EXPECT_EQ(result.code, CommandResult::Code::kDone);
  EXPECT_FALSE(result.before->ports[0].up());
  EXPECT_TRUE(result.after->ports[0].up());
  EXPECT_FALSE(result.after->ports[0].pauses.paused());
  EXPECT_EQ(counts().recovered_by_admin, 1U);
}

TEST_F(DeviceMonitorTest, RequeryOnAnInertDeviceIsRefusedAndAsksNobody) {
  Unplug(false);
  Turn();
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  const uint64_t queries = sim_.Calls("query_port");
  const auto before = snapshot();
  const auto command = monitor_->Submit(CommandKind::kRequery, 1);
  Turn();
  CommandResult result;
  ASSERT_EQ(command->Wait(Duration(0), &result), Pending::State::kDone);
  EXPECT_EQ(result.code, CommandResult::Code::kNotOpen);
  EXPECT_EQ(sim_.Calls("query_port"), queries);
  EXPECT_EQ(counts().queries_ok, before->ports[0].counts.queries_ok);
}

TEST_F(DeviceMonitorTest, RequeryOfAPortThatIsNotThere) {
  const auto command = monitor_->Submit(CommandKind::kRequery, 7);
  Turn();
  CommandResult result;
  command->Wait(Duration(0), &result);
  EXPECT_EQ(result.code, CommandResult::Code::kUnknownPort);
}

TEST_F(DeviceMonitorTest, AnAbandonedCommandNeverRuns) {
  const auto command = monitor_->Submit(CommandKind::kRequery, 1);
  EXPECT_EQ(command->Wait(Duration(0), nullptr), Pending::State::kAbandoned);
  const uint64_t queries = sim_.Calls("query_port");
  Turn();
  EXPECT_EQ(sim_.Calls("query_port"), queries);
}

TEST_F(DeviceMonitorTest, AFullQueueRefusesAtOnce) {
  std::shared_ptr<Pending> last;
  for (int i = 0; i < 65; ++i) {
    last = monitor_->Submit(CommandKind::kPoke, 0);
  }
  CommandResult result;
  ASSERT_EQ(last->Wait(Duration(0), &result), Pending::State::kDone);
  EXPECT_EQ(result.code, CommandResult::Code::kQueueFull);
}

TEST_F(DeviceMonitorTest, StoppingAnswersWhatWaitsAndWhatComes) {
  const auto waiting = monitor_->Submit(CommandKind::kRequery, 1);
  monitor_->RequestStop();
  const auto late = monitor_->Submit(CommandKind::kRequery, 1);
  for (const auto& command : {waiting, late}) {
    CommandResult result;
    ASSERT_EQ(command->Wait(Duration(0), &result), Pending::State::kDone);
    EXPECT_EQ(result.code, CommandResult::Code::kStopping);
  }
  monitor_->Run();  // returns at once, with everything closed
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(DeviceMonitorTest, ReleaseClosesEverythingUntilReopenOrItsEnd) {
  holds_->SetRelease(1, {"driver upgrade", "ann", clock_.wall(), clock_.wall() + seconds(60)});
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kReleased);
  EXPECT_TRUE(paused(PauseReason::kReleased));
  EXPECT_EQ(sim_.Held(), SimHeld{});
  const uint64_t lists = sim_.Calls("get_device_list");
  const uint64_t opens = sim_.Calls("open_device");
  for (int i = 0; i < 59; ++i) {
    Tick();
  }
  EXPECT_EQ(snapshot()->status, DeviceStatus::kReleased);
  EXPECT_EQ(sim_.Calls("get_device_list"), lists);
  EXPECT_EQ(sim_.Calls("open_device"), opens);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_FALSE(port().pauses.paused());
}

TEST_F(DeviceMonitorTest, AReleaseThatOutlivesTheProcessHidesNoPort) {
  holds_->SetRelease(1, {"driver upgrade", "ann", clock_.wall(), clock_.wall() + seconds(60)});
  monitor_ = std::make_unique<DeviceMonitor>(1, shared_, sighting_);
  monitor_->OnDiscovery(sighting_);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kReleased);
  ASSERT_EQ(snapshot()->ports.size(), 1U) << "it was ACTIVE once, so it is missed";
  EXPECT_TRUE(paused(PauseReason::kReleased));
  EXPECT_EQ(port().state, std::nullopt);
  holds_->ClearRelease(1);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().flaps, 0U);
}

TEST_F(DeviceMonitorTest, ADeviceThatDoesNotOpenAfterItsReleaseIsNoMaintenance) {
  holds_->SetRelease(1, {"swap", "ann", clock_.wall(), clock_.wall() + seconds(60)});
  Tick();
  Fail("open_device", EIO, 1);
  holds_->ClearRelease(1);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpening);
  EXPECT_FALSE(paused(PauseReason::kReleased)) << "its alerts would stay off";
  EXPECT_TRUE(paused(PauseReason::kFatal));
  EXPECT_NE(port().fatal_note.find("EIO"), std::string::npos);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_FALSE(port().pauses.paused());
}

TEST_F(DeviceMonitorTest, AReleaseSurvivesTheDriverReload) {
  holds_->SetRelease(1, {"driver upgrade", "ann", clock_.wall(), clock_.wall() + seconds(600)});
  Tick();
  Unplug(false);
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kReleased);
  Plug();
  monitor_->OnDiscovery(sighting_);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kReleased);
  holds_->ClearRelease(1);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
}

TEST_F(DeviceMonitorTest, AReleaseOfADeviceThatLeftEndsAsAbsent) {
  holds_->SetRelease(1, {"swap", "ann", clock_.wall(), clock_.wall() + seconds(60)});
  Tick();
  Unplug(false);
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  holds_->ClearRelease(1);
  Tick();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kAbsent);
  EXPECT_TRUE(paused(PauseReason::kFatal));
  EXPECT_FALSE(paused(PauseReason::kReleased));
}

}  // namespace
}  // namespace nicmon
