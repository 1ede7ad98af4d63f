#include <infiniband/verbs.h>

#include <cerrno>
#include <thread>

#include "monitor/device_monitor_fixture.h"
#include "testing/wait_for.h"

// Who may probe when, what is held meanwhile, and the data path that is kept.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;
using Code = ProbeOutcome::Code;

class ProberTest : public DeviceMonitorTest {
 protected:
  explicit ProberTest(DataPathMode mode = DataPathMode::kOnDemand, uint32_t ports = 2)
      : DeviceMonitorTest(ports, Duration(0), mode) {}
  ~ProberTest() override {
    sim_.EndHangs();
    EXPECT_TRUE(WaitFor([&] { return !monitor_->probing(); }));
  }

  ProbeOutcome Probe(uint32_t port = 1) { return monitor_->Probe(port, seconds(30)); }
  void Hang(const std::string& verb) {
    SimCommand command;
    command.device = kDevice;
    command.hang = SimCommand::Hang{verb, seconds(3600)};
    Apply(command);
  }
  void ReleaseDevice() {
    const WallTime now = clock_.clock().wall();
    holds_->SetRelease(1, Release{"driver", "ann", now, now + std::chrono::hours(1)});
    Turn();
  }
  uint64_t opens() const { return sim_.Calls("open_device"); }
  DataPathStatus status() const { return snapshot()->data_path; }
};

TEST_F(ProberTest, EachPortAnswersAndNothingStaysHeld) {
  const SimHeld before = sim_.Held();
  for (const uint32_t port : {1U, 2U}) {
    const ProbeOutcome outcome = Probe(port);
    ASSERT_EQ(outcome.code, Code::kDone);
    EXPECT_TRUE(outcome.result.ok()) << outcome.result.error;
    EXPECT_EQ(outcome.result.steps.front().step, ProbeStep::kOpen);
    EXPECT_EQ(outcome.result.steps.back().step, ProbeStep::kCompare);
    EXPECT_FALSE(monitor_->probing());
    EXPECT_EQ(sim_.Held(), before);
  }
}

TEST_F(ProberTest, NothingOfAClosedDeviceIsOpened) {
  const uint64_t opened = opens();
  EXPECT_EQ(Probe(0).code, Code::kUnknownPort);
  EXPECT_EQ(Probe(3).code, Code::kUnknownPort);
  ReleaseDevice();
  EXPECT_EQ(Probe().code, Code::kNotOpen);
  EXPECT_EQ(sim_.Held(), SimHeld{});
  EXPECT_EQ(opens(), opened);
}

TEST_F(ProberTest, OneThatHangsIsTheOnlyOneAndGivesBackInTheEnd) {
  Hang("create_qp");
  EXPECT_EQ(monitor_->Probe(1, milliseconds(20)).code, Code::kTimedOut);
  ASSERT_TRUE(sim_.AwaitHanging(1, seconds(30)));
  EXPECT_TRUE(monitor_->probing());
  EXPECT_EQ(Probe(2).code, Code::kBusy);
  Tick();
  EXPECT_EQ(counts().queries_failed, 0U);  // the monitor goes on
  ReleaseDevice();
  EXPECT_EQ(sim_.Held().contexts, 1);  // the probe's
  EXPECT_TRUE(monitor_->probing());
  sim_.EndHangs();
  EXPECT_TRUE(WaitFor([&] { return !monitor_->probing(); }));
  EXPECT_EQ(sim_.Held(), SimHeld{});
}

TEST_F(ProberTest, AStopAnswersWhoeverWaits) {
  Hang("create_qp");
  std::thread stopper([&] {
    EXPECT_TRUE(sim_.AwaitHanging(1, seconds(30)));
    monitor_->RequestStop();
  });
  EXPECT_EQ(monitor_->Probe(1, std::chrono::hours(1)).code, Code::kStopping);  // and not in an hour
  stopper.join();
  EXPECT_EQ(Probe().code, Code::kStopping);
}

TEST_F(ProberTest, TheDeviceShowsWhyItsDataPathCannotBeBuilt) {
  EXPECT_EQ(status(), (DataPathStatus{DataPathMode::kOnDemand, std::nullopt, ""}));
  Fail("alloc_pd", ENOMEM, 1);
  const ProbeOutcome outcome = Probe();
  EXPECT_EQ(outcome.result.failed, ProbeStep::kOpen);
  EXPECT_NE(outcome.result.error.find("alloc_pd: ENOMEM"), std::string::npos);
  Tick();
  EXPECT_EQ(status().note, outcome.result.error);
  EXPECT_TRUE(Probe().result.ok());
  Tick();
  EXPECT_EQ(status().note, "");
}

class NeverTest : public ProberTest {
 protected:
  NeverTest() : ProberTest(DataPathMode::kNever) {}
};

TEST_F(NeverTest, BuildsNothing) {
  EXPECT_EQ(Probe().code, Code::kNever);
  EXPECT_EQ(sim_.Calls("alloc_pd"), 0U);
  EXPECT_EQ(status().mode, DataPathMode::kNever);
}

class AlwaysTest : public ProberTest {
 protected:
  AlwaysTest() : ProberTest(DataPathMode::kAlways) {}
};

TEST_F(AlwaysTest, IsBuiltWithTheDeviceAndUsedAgain) {
  EXPECT_EQ(status().ready, true);
  const SimHeld kept = sim_.Held();
  EXPECT_EQ(kept.contexts, 2);
  EXPECT_EQ(kept.pds, 1);
  const uint64_t opened = opens();
  for (const uint32_t port : {1U, 2U}) {
    const ProbeOutcome outcome = Probe(port);
    EXPECT_TRUE(outcome.result.ok()) << outcome.result.error;
    EXPECT_EQ(outcome.result.steps.front().step, ProbeStep::kQueryPort);
  }
  Tick();
  EXPECT_EQ(sim_.Held(), kept);
  EXPECT_EQ(opens(), opened);
  EXPECT_EQ(status().ready, true);
}

TEST_F(AlwaysTest, GoesWithTheDevice) {
  Unplug(true);  // the removal waits for the last close
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  EXPECT_TRUE(sim_.AwaitRemoval(kDevice, seconds(30)));
  EXPECT_EQ(sim_.Held(), SimHeld{});
  EXPECT_EQ(status().ready, false);
  Plug();
  monitor_->OnDiscovery(sighting_);
  Turn();
  EXPECT_EQ(status().ready, true);
  EXPECT_TRUE(Probe().result.ok());
}

TEST_F(AlwaysTest, OneLentToAProbeThatHangsIsNotKeptForAnotherLife) {
  Hang("create_qp");
  EXPECT_EQ(monitor_->Probe(1, milliseconds(20)).code, Code::kTimedOut);
  Unplug(false);
  monitor_->OnDiscovery(std::nullopt);
  Turn();
  Plug();
  monitor_->OnDiscovery(sighting_);
  Turn();
  sim_.EndHangs();
  EXPECT_TRUE(WaitFor([&] { return !monitor_->probing(); }));
  Tick();
  EXPECT_EQ(sim_.Held().contexts, 2);  // the monitor's and a new one
  EXPECT_TRUE(Probe().result.ok());
}

TEST_F(AlwaysTest, OneLentBeforeAReleaseIsNotKeptAfterIt) {
  Hang("create_qp");
  EXPECT_EQ(monitor_->Probe(1, milliseconds(20)).code, Code::kTimedOut);
  ReleaseDevice();
  holds_->ClearRelease(1);
  Turn();
  const uint64_t opened = opens();
  sim_.EndHangs();
  EXPECT_TRUE(WaitFor([&] { return !monitor_->probing(); }));
  EXPECT_EQ(sim_.Held().contexts, 1);  // the monitor's: the probe went well, its path went too
  Tick();
  EXPECT_EQ(opens(), opened + 1);
  EXPECT_EQ(status().ready, true);
}

TEST_F(AlwaysTest, ItsEventsDoNotPileUpAndABrokenOneIsBuiltAnew) {
  const uint64_t opened = opens();
  Event(IBV_EVENT_GID_CHANGE, 1000);
  Tick();
  Tick();
  EXPECT_GE(sim_.Calls("get_async_event"), 2000U);  // on the monitor's context and on this one
  EXPECT_EQ(sim_.Held().unacked_events, 0);
  EXPECT_EQ(opens(), opened);
  Fail("create_qp", EIO, 1);
  EXPECT_EQ(Probe().result.failed, ProbeStep::kCreateQp);
  EXPECT_EQ(sim_.Held().contexts, 1);
  Tick();
  EXPECT_EQ(sim_.Held().contexts, 2);
  EXPECT_EQ(status().ready, true);
}

TEST_F(AlwaysTest, ADeviceIsWatchedWithoutIt) {
  ReleaseDevice();
  Fail("alloc_pd", ENOMEM, 2);
  holds_->ClearRelease(1);
  Turn();
  Turn();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen);
  EXPECT_EQ(status().ready, false);
  EXPECT_NE(status().note.find("alloc_pd: ENOMEM"), std::string::npos);
  EXPECT_EQ(sim_.Held().contexts, 1);
  for (int second = 0; second < 29; ++second) {
    Tick();
  }
  EXPECT_EQ(sim_.Calls("alloc_pd"), 2U);  // at the first opening, and the one that failed
  for (int second = 0; second < 32; ++second) {
    Tick();
  }
  EXPECT_EQ(status(), (DataPathStatus{DataPathMode::kAlways, true, ""}));
}

}  // namespace
}  // namespace nicmon
