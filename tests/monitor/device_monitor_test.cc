#include <infiniband/verbs.h>

#include <cerrno>

#include "monitor/device_monitor_fixture.h"
#include "nicmon/verbs/events.h"

// Events, ticks and what they make of a port, turn by turn.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

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
