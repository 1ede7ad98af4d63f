#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/sim/simulated_rnic.h"
#include "testing/fake_clock.h"

// What one device's loop tells the history, over simulated hardware and turn by turn.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using ::testing::ElementsAre;
using testing::FakeClock;
using ::testing::IsEmpty;

constexpr char kDevice[] = "rdma0";

class TransitionTest : public ::testing::Test {
 protected:
  TransitionTest() {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->clock = clock_.clock();
    shared->holds = holds_;
    shared->stats = std::make_shared<NodeStats>();
    shared->record = [this](Transition event) {
      published_.push_back(monitor_ ? monitor_->snapshot()->status : DeviceStatus::kOpening);
      told_.push_back(std::move(event));
    };
    monitor_ = std::make_unique<DeviceMonitor>(1, shared, sighting_);
    Discover();
  }

  void Discover() {
    int count = 0;
    ibv_device** list = sim_.verbs()->get_device_list(&count);
    sighting_.kernel_index = count > 0 ? sim_.verbs()->get_device_index(list[0]) : -1;
    sim_.verbs()->free_device_list(list);
    monitor_->OnDiscovery(sighting_);
    Turn();
  }
  void Turn() { monitor_->Turn(Duration(0)); }
  void Tick() {
    clock_.Advance(seconds(1));
    Turn();
  }
  void Apply(SimCommand command) {
    command.device = kDevice;
    ASSERT_EQ(sim_.Apply(command), "");
  }
  void SetState(int state, std::optional<int> event = std::nullopt) {
    SimCommand command;
    command.port = 1;
    command.state = state;
    command.event = event;
    Apply(command);
  }
  void Event(int event, uint32_t repeat = 1) {
    SimCommand command;
    command.port = 1;
    command.event = event;
    command.repeat = repeat;
    Apply(command);
  }

  /// All told since the last call: "type[/port] cause: before > after (note)".
  std::vector<std::string> Told() {
    std::vector<std::string> lines;
    for (const Transition& event : std::exchange(told_, {})) {
      EXPECT_EQ(event.device, sighting_.name);
      lines.push_back(std::string(TransitionTypeName(event.type)) +
                      (event.port != 0 ? "/" + std::to_string(event.port) : "") + " " +
                      event.cause + ": " + event.before + " > " + event.after +
                      (event.note.empty() ? "" : " (" + event.note + ")"));
    }
    return lines;
  }

  FakeClock clock_;
  SimulatedRnic sim_{SimulationSpec{{kDevice}, 1, 400, false}};
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(clock_.clock());
  DeviceSighting sighting_{kDevice, 0, "uverbs0", true};
  std::vector<Transition> told_;
  std::vector<DeviceStatus> published_;  // when each of them was told
  std::unique_ptr<DeviceMonitor> monitor_;
};

TEST_F(TransitionTest, ADeviceThatIsFoundAndOpened) {
  EXPECT_THAT(Told(),
              ElementsAre("device discovery:  > opening (found)", "device status: opening > open",
                          "link/1 tick:  > active (first seen since nicmon started)"));
  Tick();
  EXPECT_THAT(Told(), IsEmpty()) << "nothing happened";
}

TEST_F(TransitionTest, WhatIsToldIsPublishedAlready) {
  EXPECT_THAT(published_,
              ElementsAre(DeviceStatus::kOpening, DeviceStatus::kOpen, DeviceStatus::kOpen));
  published_.clear();
  Event(IBV_EVENT_DEVICE_FATAL);
  Turn();
  EXPECT_THAT(published_, ElementsAre(DeviceStatus::kFatal));
}

TEST_F(TransitionTest, ALossAndARecoveryAreOneRecordEach) {
  Told();
  SetState(kStateDown, IBV_EVENT_PORT_ERR);
  Turn();
  ASSERT_FALSE(told_.empty());
  EXPECT_EQ(told_[0].time, clock_.wall());
  EXPECT_THAT(Told(), ElementsAre("link/1 event: active > down (lost its link)"));
  clock_.Advance(milliseconds(2500));
  SetState(kStateActive, IBV_EVENT_PORT_ACTIVE);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("link/1 event: down > active (up again after 2.500 s)"));
}

TEST_F(TransitionTest, AFlapThatNoQuerySawIsToldAll) {
  Told();
  Event(IBV_EVENT_PORT_ERR);
  Event(IBV_EVENT_PORT_ACTIVE);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("link/1 event: active > active "
                                  "(flapped: lost, and up again when it was asked)"));
}

TEST_F(TransitionTest, ALostEventIsToldWithTheMismatch) {
  Told();
  SetState(kStateDown);
  Tick();
  EXPECT_THAT(Told(), ElementsAre("link/1 tick: active > down (lost its link)"));
  SetState(kStateActive);
  Tick();
  EXPECT_THAT(
      Told(),
      ElementsAre("mismatch/1 tick:  > down (missed event: no event told of this state)",
                  "link/1 tick: down > active (up again after 1.000 s, no event was seen)"));
  Tick();
  EXPECT_THAT(
      Told(),
      ElementsAre("mismatch/1 tick:  > active (missed event: no event told of this state)"));
}

TEST_F(TransitionTest, AnEventThatTheHardwareContradicts) {
  Told();
  Event(IBV_EVENT_PORT_ERR);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("mismatch/1 event:  > active (spurious event: port_err)",
                                  "link/1 event: active > active "
                                  "(flapped: lost, and up again when it was asked)"));
}

TEST_F(TransitionTest, ALossWhoseQueryFails) {
  Told();
  SimCommand fail;
  fail.fail = SimCommand::Fail{"query_port", EIO, 1, 0};
  Apply(fail);
  SetState(kStateDown, IBV_EVENT_PORT_ERR);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("link/1 event: active > active "
                                  "(lost its link, and the query failed)"));
  Tick();
  EXPECT_THAT(Told(), ElementsAre("link/1 tick: active > down"));
}

TEST_F(TransitionTest, EveryLossThatIsCountedIsTold) {
  Told();
  size_t lost = 0;
  for (int i = 0; i < 200; ++i) {
    SetState(i % 3 == 0 ? kStateDown : kStateActive,
             i % 2 == 0 ? std::optional(IBV_EVENT_PORT_ERR) : std::nullopt);
    if (i % 5 == 0) {
      Tick();
    }
  }
  Tick();
  for (const std::string& line : Told()) {
    lost += line.find("lost") != std::string::npos ? 1 : 0;
  }
  EXPECT_EQ(lost, monitor_->snapshot()->ports.at(0).counts.link_pauses);
  EXPECT_GT(lost, 20U);
}

TEST_F(TransitionTest, Speed) {
  Told();
  SimCommand command;
  command.port = 1;
  command.effective_speed_100mbps = 1024;
  command.event = 20;  // DEVICE_SPEED_CHANGE
  Apply(command);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("speed/1 event: 400 Gb/s > 102.4 Gb/s"));
}

TEST_F(TransitionTest, LidAndGid) {
  TrackerContext context;
  context.device = kDevice;
  context.holds = holds_;
  context.record = [this](Transition event) { told_.push_back(std::move(event)); };
  PortTracker port(1, context);
  const Now now{clock_.steady(), clock_.wall()};
  PortObservation seen;
  seen.state = kStateActive;
  seen.link_layer = "InfiniBand";
  seen.lid = 17;
  port.OnObservation(seen, QuerySource::kTick, now);
  Gid gid;
  gid.index = 1;
  gid.bytes[15] = 1;
  port.OnGid(gid, "", now);
  Told();
  seen.lid = 18;
  port.OnObservation(seen, QuerySource::kAdmin, now);
  gid.index = 3;
  port.OnGid(gid, "", now);
  port.OnGid(gid, "", now);
  const std::string text = "0000:0000:0000:0000:0000:0000:0000:0001";
  EXPECT_THAT(Told(), ElementsAre("lid/1 admin: 17 > 18",
                                  "gid/1 scan: " + text + " > " + text + " (index 1 to 3)"));
}

TEST_F(TransitionTest, DeathReleaseAndReturnOfADevice) {
  Told();
  Event(IBV_EVENT_DEVICE_FATAL);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("device status: open > fatal (DEVICE_FATAL: the device is dead "
                                  "until its driver has it back)"));
  holds_->SetRelease(1, {"driver", "ann", clock_.wall(), clock_.wall() + seconds(5)});
  Tick();
  EXPECT_THAT(Told(), ElementsAre("device status: fatal > released (released for maintenance: "
                                  "nothing of it is held open)"));
  clock_.Advance(seconds(6));
  Turn();
  EXPECT_THAT(Told(),
              ElementsAre("device status: released > opening (being opened after a release)",
                          "device status: opening > open"))
      << "two changes in one turn are published as one, but told both";
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("device status: open > absent (the device is gone; it is opened "
                                  "again when it comes back)"));
}

TEST_F(TransitionTest, ALossThatTheDevicesDeathOvertakes) {
  Told();
  Event(IBV_EVENT_PORT_ERR);
  Event(IBV_EVENT_DEVICE_FATAL);
  Turn();
  EXPECT_THAT(Told(), ElementsAre("device status: open > fatal (DEVICE_FATAL: the device is dead "
                                  "until its driver has it back)",
                                  "link/1 event: active >  (lost its link)"));
}

TEST_F(TransitionTest, ARename) {
  Told();
  sighting_.name = "rdma7";
  monitor_->OnDiscovery(sighting_);
  monitor_->Turn(Duration(0));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].before + ">" + told_[0].after, "rdma0>rdma7");
}

TEST_F(TransitionTest, WhatIsNoChangeIsNeverTold) {
  Told();
  for (const int event : {IBV_EVENT_COMM_EST, IBV_EVENT_SM_CHANGE, IBV_EVENT_PKEY_CHANGE,
                          IBV_EVENT_CLIENT_REREGISTER, IBV_EVENT_QP_LAST_WQE_REACHED}) {
    Event(event, 100);
    Turn();
  }
  Event(IBV_EVENT_PORT_ACTIVE);  // for a port that is active
  Turn();
  EXPECT_THAT(Told(), IsEmpty());
}

}  // namespace
}  // namespace nicmon
