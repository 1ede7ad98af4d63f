#include "nicmon/monitor/device_monitor.h"

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "nicmon/sim/simulated_rnic.h"
#include "nicmon/verbs/events.h"
#include "testing/fake_clock.h"

// One device's loop over simulated hardware, turn by turn on the test's own thread and clock.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeClock;

constexpr char kDevice[] = "rdma0";
constexpr int kPolling = 2;

class DeviceMonitorTest : public ::testing::Test {
 protected:
  explicit DeviceMonitorTest(uint32_t ports = 1, Duration settle = Duration(0))
      : sim_(SimulationSpec{{kDevice}, ports, 400, false}) {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->clock = clock_.clock();
    shared->holds = holds_;
    shared->stats = std::make_shared<NodeStats>();
    shared->settle = settle;
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
    clock_.Advance(seconds(1));
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

  FakeClock clock_;
  SimulatedRnic sim_;
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(clock_.clock());
  std::shared_ptr<const MonitorShared> shared_;
  DeviceSighting sighting_;
  std::unique_ptr<DeviceMonitor> monitor_;
};

class TwoPortTest : public DeviceMonitorTest {
 protected:
  TwoPortTest() : DeviceMonitorTest(2) {}
};

class SettlingTest : public DeviceMonitorTest {
 protected:
  SettlingTest() : DeviceMonitorTest(1, milliseconds(2500)) {}
};

TEST_F(DeviceMonitorTest, OpensQueriesAndPublishesInTheFirstTurn) {
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_EQ(snapshot()->opens_ok, 1U);
  EXPECT_TRUE(port().up());
  EXPECT_EQ(port().effective_speed_bps, 400'000'000'000U);
  EXPECT_EQ(port().speed_source, SpeedSource::kVerb);
  EXPECT_TRUE(port().gid);
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().to_active, 0U);
  EXPECT_FALSE(snapshot()->identity.pci_address.empty());
}

TEST_F(DeviceMonitorTest, EndsWithNothingHeld) {
  monitor_.reset();
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(DeviceMonitorTest, APortErrPausesWithinTheTurnAndAPortActiveRecovers) {
  SetState(kStateDown, IBV_EVENT_PORT_ERR);
  Turn();
  EXPECT_FALSE(port().up());
  EXPECT_TRUE(paused(PauseReason::kLink));
  EXPECT_EQ(counts().link_pauses, 1U);
  EXPECT_EQ(port().effective_speed_bps, std::nullopt);
  SetState(kStateActive, IBV_EVENT_PORT_ACTIVE);
  Turn();
  EXPECT_TRUE(port().up());
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().recovered_by_event, 1U);
  EXPECT_EQ(counts().flaps, 1U);
  EXPECT_EQ(sim_.Held().unacked_events, 0);
}

TEST_F(DeviceMonitorTest, ABurstCostsOneQuery) {
  const uint64_t before = sim_.Calls("query_port");
  Event(IBV_EVENT_PORT_ERR, 100);
  Event(IBV_EVENT_PORT_ACTIVE, 100);
  Turn();
  EXPECT_EQ(sim_.Calls("query_port"), before + 1);
  EXPECT_EQ(counts().link_pauses, 1U);
  EXPECT_EQ(counts().flaps, 1U);
  EXPECT_EQ(counts().events[0], 100U);
  EXPECT_EQ(counts().events[1], 100U);
}

TEST_F(DeviceMonitorTest, AStormStarvesNeitherTheTickNorCommands) {
  Event(IBV_EVENT_COMM_EST, 10'000);
  clock_.Advance(seconds(1));
  const auto command = monitor_->Submit(CommandKind::kRequery, 1);
  const uint64_t ticks_before = counts().queries_ok;
  Turn();
  EXPECT_LT(snapshot()->events[IBV_EVENT_COMM_EST], 10'000U) << "one turn takes a bounded batch";
  EXPECT_EQ(counts().queries_ok, ticks_before + 2) << "tick and command had their turn";
  EXPECT_EQ(command->Wait(Duration(0), nullptr), Pending::State::kDone);
  for (int i = 0; i < 20; ++i) {
    Turn();  // without a new edge
  }
  EXPECT_EQ(snapshot()->events[IBV_EVENT_COMM_EST], 10'000U);
}

TEST_F(DeviceMonitorTest, LostEventsAreRepairedByTheTick) {
  SetState(kStateDown);
  Turn();
  EXPECT_TRUE(port().up());
  Tick();
  EXPECT_TRUE(paused(PauseReason::kLink));
  SetState(kStateActive);
  Tick();
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().recovered_by_tick, 1U);
  Tick();
  EXPECT_EQ(counts().missed_events, 2U);
}

TEST_F(DeviceMonitorTest, SpeedChangeWithoutAnEventIsSeenByTheTick) {
  SimCommand command = Command();
  command.effective_speed_100mbps = 2000;
  Apply(command);
  Tick();
  EXPECT_EQ(port().effective_speed_bps, 200'000'000'000U);
  EXPECT_EQ(counts().speed_changes, 1U);
  EXPECT_FALSE(port().pauses.paused());
}

TEST_F(DeviceMonitorTest, DeviceSpeedChangeRereadsEveryPort) {
  SimCommand command = Command();
  command.effective_speed_100mbps = 2000;
  command.event = kDeviceSpeedChange;
  Apply(command);
  Turn();
  EXPECT_EQ(port().effective_speed_bps, 200'000'000'000U);
  EXPECT_EQ(snapshot()->events[kDeviceSpeedChange], 1U);
  Event(kDeviceSpeedChange);
  Turn();
  EXPECT_EQ(counts().speed_changes, 1U) << "repeated at the same value: no effect";
}

TEST_F(DeviceMonitorTest, AFailedRereadAfterASpeedChangeChangesNothing) {
  SimCommand command = Command();
  command.effective_speed_100mbps = 2000;
  Apply(command);
  Fail("query_port_speed", EBUSY, 1);
  Event(kDeviceSpeedChange);
  Turn();
  EXPECT_EQ(port().effective_speed_bps, 400'000'000'000U);
  EXPECT_TRUE(port().up());
  EXPECT_EQ(counts().speed_changes, 0U);
}

TEST_F(DeviceMonitorTest, UnknownEventsAndPortsOutOfRangeAreCountedAndNothingElse) {
  Event(4711);
  Event(IBV_EVENT_PORT_ERR, 1, 9);
  Event(IBV_EVENT_PORT_ERR, 1, 0);
  Turn();
  EXPECT_EQ(snapshot()->events_other, 3U);
  EXPECT_FALSE(port().pauses.paused());
  EXPECT_EQ(counts().link_pauses, 0U);
}

TEST_F(TwoPortTest, EventsConcernTheirPortOnly) {
  SetState(kStateDown, IBV_EVENT_PORT_ERR, 2);
  const uint64_t queries = sim_.Calls("query_port");
  Turn();
  EXPECT_EQ(sim_.Calls("query_port"), queries + 1);
  EXPECT_TRUE(port(1).up());
  EXPECT_FALSE(port(2).up());
  EXPECT_EQ(counts(1).events[1], 0U);
  EXPECT_EQ(counts(2).events[1], 1U);
}

TEST_F(TwoPortTest, OneSickPortHidesNoOther) {
  Fail("query_port", EIO, 1);  // port 1 is asked first
  Tick();
  EXPECT_TRUE(port(1).stale);
  EXPECT_FALSE(port(2).stale);
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
}

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

TEST_F(DeviceMonitorTest, GidChangeIsCountedAndTheChoiceFollows) {
  const Gid before = *port().gid;
  GidEntry entry;
  entry.index = 5;
  entry.port = 1;
  entry.type = 2;
  entry.gid.raw[0] = 0x20;
  entry.gid.raw[15] = 7;
  ASSERT_EQ(sim_.SetGids(kDevice, 1, {entry}, {{5, "eth0"}}), "");
  Event(IBV_EVENT_GID_CHANGE);
  Turn();
  EXPECT_EQ(port().gid->index, 5U);
  EXPECT_NE(port().gid->bytes, before.bytes);
  EXPECT_EQ(counts().gid_changes, 1U);
  EXPECT_EQ(counts().events[6], 1U);
  EXPECT_FALSE(port().pauses.paused()) << "availability is untouched";
}

TEST_F(DeviceMonitorTest, AnEmptyGidTableIsPendingNotFatal) {
  ASSERT_EQ(sim_.SetGids(kDevice, 1, {}), "");
  Event(IBV_EVENT_GID_CHANGE);
  Turn();
  EXPECT_FALSE(port().gid);
  EXPECT_NE(port().gid_note, "");
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_TRUE(port().up());
}

TEST_F(SettlingTest, SettlesBetweenTicks) {
  SetState(kStateDown, IBV_EVENT_PORT_ERR);
  Turn();
  SetState(kStateActive, IBV_EVENT_PORT_ACTIVE);
  Turn();
  EXPECT_TRUE(paused(PauseReason::kSettling));
  clock_.Advance(milliseconds(2499));
  Turn();
  EXPECT_TRUE(paused(PauseReason::kSettling));
  clock_.Advance(milliseconds(1));
  Turn();
  EXPECT_FALSE(port().pauses.paused());
}

}  // namespace
}  // namespace nicmon
