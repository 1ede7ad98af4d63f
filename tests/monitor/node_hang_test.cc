#include <infiniband/verbs.h>

#include "monitor/node_monitor_fixture.h"
#include "testing/wait_for.h"

// Calls and files that never return, and what goes on beside them.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

TEST_F(NodeMonitorTest, AHungDeviceStallsItselfOnly) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand hang;
  hang.hang = SimCommand::Hang{"query_port", seconds(3600)};
  Apply(hang, "b");
  ASSERT_TRUE(WaitFor([&] { return Find(View(), "b")->stalled; }));
  EXPECT_EQ(Find(View(), "b")->stalled_call, "query_port");
  EXPECT_TRUE(WaitFor([&] { return Find(View(), "b")->ports[0].stale; }));
  EXPECT_FALSE(Find(View(), "b")->ports[0].serving);

  SimCommand down;
  down.state = kStateDown;
  down.event = IBV_EVENT_PORT_ERR;
  Apply(down, "c");
  EXPECT_TRUE(WaitFor([&] { return !Find(View(), "c")->ports[0].up; }));
  EXPECT_TRUE(WaitFor([&] { return Find(View(), "a")->ports[0].serving; }));

  // The hung one can still be held, and commands to it time out without ever running.
  Hold hold;
  const DeviceId id = Find(View(), "b")->data->id;
  holds_->Pause({id, 1}, "b", "wedged", "ann", std::nullopt, false, &hold);
  EXPECT_TRUE(Find(View(), "b")->ports[0].Paused(PauseReason::kAdmin));
  const auto command = monitor_->Submit(id, CommandKind::kRequery, 1);
  EXPECT_EQ(command->Wait(milliseconds(10), nullptr), Pending::State::kAbandoned);
}

TEST_F(NodeMonitorTest, AHungCounterFileStallsItsDeviceOnly) {
  options_.counters_interval = milliseconds(300);
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  for (const char* device : {"b", "c"}) {
    ASSERT_TRUE(WaitFor([&] { return Find(View(), device)->ports[0].data->stats.has_value(); }));
  }
  SimCommand hang;
  hang.hang = SimCommand::Hang{"sysfs_read", seconds(3600)};
  Apply(hang, "b");
  ASSERT_TRUE(WaitFor([&] { return Find(View(), "b")->stalled; }));
  EXPECT_EQ(Find(View(), "b")->stalled_call, "sysfs_read");
  const auto sampled = [&] { return Find(View(), "c")->ports[0].data->stats->round->sampled; };
  const SteadyTime before = sampled();
  EXPECT_TRUE(WaitFor([&] { return sampled() > before; }));
  EXPECT_TRUE(WaitFor([&] { return Find(View(), "c")->ports[0].serving; }));
  EXPECT_TRUE(WaitFor([&] { return !View().discovery_stalled; }));
}

TEST_F(NodeMonitorTest, StopDoesNotWaitForAHungDevice) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand hang;
  hang.hang = SimCommand::Hang{"query_port", seconds(3600)};
  Apply(hang, "b");
  ASSERT_TRUE(sim_.AwaitHanging(1, seconds(10)));
  EXPECT_FALSE(monitor_->Stop(milliseconds(200)));
  EXPECT_TRUE(WaitFor([&] { return sim_.Held().contexts == 1; })) << "the others are closed";
}

TEST_F(NodeMonitorTest, StopAnswersTheCommandThatHangs) {
  options_.tick = seconds(60);  // what hangs is the command, no tick
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand hang;
  hang.hang = SimCommand::Hang{"query_port", seconds(3600)};
  Apply(hang, "b");
  const DeviceId id = Find(View(), "b")->data->id;
  const auto running = monitor_->Submit(id, CommandKind::kRequery, 1);
  ASSERT_TRUE(sim_.AwaitHanging(1, seconds(10)));
  EXPECT_FALSE(monitor_->Stop(milliseconds(0)));
  CommandResult result;
  EXPECT_EQ(running->Wait(Duration(0), &result), Pending::State::kDone);
  EXPECT_EQ(result.code, CommandResult::Code::kStopping);
}

TEST_F(NodeMonitorTest, AHangInTheEventQueueIsShownAsAStall) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand hang;
  hang.hang = SimCommand::Hang{"get_async_event", seconds(3600)};
  hang.event = IBV_EVENT_PORT_ACTIVE;
  hang.port = 1;
  Apply(hang, "b");
  EXPECT_TRUE(WaitFor([&] { return Find(View(), "b")->stalled; }));
  EXPECT_EQ(Find(View(), "b")->stalled_call, "get_async_event");
}

TEST_F(NodeMonitorTest, AHungDeviceListStallsDiscoveryOnly) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand hang;
  hang.hang = SimCommand::Hang{"get_device_list", seconds(3600)};
  Apply(hang, "");
  EXPECT_TRUE(WaitFor([&] { return View().discovery_stalled; }));
  SimCommand down;
  down.state = kStateDown;
  down.event = IBV_EVENT_PORT_ERR;
  Apply(down, "c");
  EXPECT_TRUE(WaitFor([&] { return !Find(View(), "c")->ports[0].up; }));
}

}  // namespace
}  // namespace nicmon
