#include <infiniband/verbs.h>

#include <thread>
#include <vector>

#include "monitor/device_stats_fixture.h"
#include "testing/wait_for.h"

// How the files of counters share a device's loop with events, commands and ticks, turn by turn.
namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;

TEST_F(DeviceMonitorStatsTest, OnePublishPerRoundNotPerFile) {
  Open();
  Finish();
  clock_.Advance(seconds(15));
  read_takes_ = kSlow;
  auto last = snapshot();
  int publishes = 0;
  const int before = reads_;
  for (int read = -1; read != files_;) {
    read = files_;
    Turn();
    publishes += snapshot() != last ? 1 : 0;
    last = snapshot();
  }
  EXPECT_GT(reads_ - before, 20);
  EXPECT_EQ(publishes, 2) << "the tick with its traffic, then the rest";
}

TEST_F(DeviceMonitorStatsTest, ATickAndItsTrafficAreOneTurnAndOnePublish) {
  Open();
  Finish();
  clock_.Advance(seconds(1));
  SetCounter("port_rcv_data", 1000);
  const int before = files_;
  Turn();
  EXPECT_EQ(files_ - before, 2);
  EXPECT_EQ(port().last_query_steady, clock_.steady());
  EXPECT_EQ(port().stats->rx_bytes_per_second, 4000.0);
}

TEST_F(DeviceMonitorStatsTest, QuickFilesGoTogetherForLessThanAWakeUpTakes) {
  Open();
  Finish();
  clock_.Advance(seconds(15));
  Turn();  // the tick
  const SteadyTime start = clock_.steady();
  const int before = reads_;
  read_takes_ = microseconds(1);
  Turn();
  EXPECT_GT(reads_ - before, 10);
  EXPECT_LT(clock_.steady() - start, microseconds(50));
}

TEST_F(DeviceMonitorStatsTest, AnEventInTheMiddleOfARoundWaitsForOneFileAtMost) {
  Open();
  Finish();
  clock_.Advance(seconds(15));
  read_takes_ = kSlow;
  const int start = reads_;
  std::vector<bool> paused_at_read;
  on_read_ = [&](const std::string&) {
    paused_at_read.push_back(link_paused());
    if (reads_ - start == 10) {
      SetState(kStateDown, IBV_EVENT_PORT_ERR);  // comes while the tenth file is being read
    }
  };
  while (reads_ - start < 20) {
    // Not in turns with nothing else to do, in which everything is looked at anyhow.
    monitor_->Turn(hours(1));
  }
  ASSERT_EQ(paused_at_read.size(), 20U);
  for (size_t i = 0; i < 20; ++i) {
    EXPECT_EQ(paused_at_read[i], i >= 10) << i;
  }
}

TEST_F(DeviceMonitorStatsTest, AnEventWaitsForOneFileOfATickAtMost) {
  Open();
  Finish();
  clock_.Advance(seconds(1));
  read_takes_ = kSlow;
  std::vector<bool> paused_at_read;
  on_read_ = [&](const std::string&) {
    paused_at_read.push_back(link_paused());
    if (paused_at_read.size() == 1) {
      SetState(kStateDown, IBV_EVENT_PORT_ERR);
    }
  };
  const uint64_t queries = port().counts.queries_ok;
  Turn();
  Turn();
  EXPECT_EQ(paused_at_read, (std::vector<bool>{false, true}));
  EXPECT_EQ(port().counts.queries_ok, queries + 2) << "of the event, and of the tick";
}

// Any file could hang.
TEST_F(DeviceMonitorStatsTest, AnEventIsPublishedBeforeAFileOfTheTickIsRead) {
  Open();
  Finish();
  clock_.Advance(seconds(1));
  SetState(kStateDown, IBV_EVENT_PORT_ERR);
  const int before = reads_;
  on_read_ = [&](const std::string&) { EXPECT_TRUE(link_paused()); };
  Turn();
  EXPECT_EQ(reads_, before + 2);
}

TEST_F(DeviceMonitorStatsTest, ACommandIsAnsweredBeforeAFileOfTheTickIsRead) {
  Open();
  Finish();
  clock_.Advance(seconds(1));
  const auto command = monitor_->Submit(CommandKind::kRequery, 1);
  const int before = reads_;
  on_read_ = [&](const std::string&) {
    EXPECT_EQ(command->Wait(Duration(0), nullptr), Pending::State::kDone);
  };
  Turn();
  EXPECT_EQ(reads_, before + 2);
}

TEST_F(DeviceMonitorStatsTest, CommandsAndTheTickDoNotWaitForTheRoundEither) {
  Open();
  Finish();
  clock_.Advance(seconds(15));
  read_takes_ = kSlow;
  const int start = reads_;
  std::shared_ptr<Pending> command;
  std::vector<uint64_t> queries;
  on_read_ = [&](const std::string&) {
    queries.push_back(port().counts.queries_ok);
    if (reads_ - start == 10) {
      command = monitor_->Submit(CommandKind::kRequery, 1);
    } else if (reads_ - start == 15) {
      clock_.Advance(seconds(1));
    }
  };
  while (reads_ - start < 20) {
    monitor_->Turn(hours(1));
  }
  EXPECT_EQ(queries[10], queries[9] + 1);
  EXPECT_EQ(queries[16], queries[10]) << "the two files of the tick";
  EXPECT_EQ(queries[17], queries[16] + 1);
  EXPECT_EQ(command->Wait(Duration(0), nullptr), Pending::State::kDone);
}

TEST_F(DeviceMonitorStatsTest, AnEventStormDoesNotStarveTheCounters) {
  Open();
  SimCommand storm;
  storm.event = IBV_EVENT_COMM_EST;
  storm.repeat = 200'000;
  Apply(storm);
  for (int i = 0; i < 100; ++i) {
    Turn();
  }
  EXPECT_LT(snapshot()->events[IBV_EVENT_COMM_EST], 200'000U);
  EXPECT_NE(port().stats, std::nullopt);
}

TEST_F(DeviceMonitorStatsTest, TheLoopDoesNotSleepWhileFilesAreDue) {
  auto shared = std::make_shared<MonitorShared>(*shared_);
  shared->clock = Clock::Real();
  shared->tick = hours(1);
  monitor_ = std::make_unique<DeviceMonitor>(1, shared, DeviceSighting{kDevice, -1, "uverbs0"});
  std::thread thread([this] { monitor_->Run(); });
  EXPECT_TRUE(testing::WaitFor([this] { return !snapshot()->ports.empty() && port().stats; }));
  monitor_->RequestStop();
  thread.join();
}

}  // namespace
}  // namespace nicmon
