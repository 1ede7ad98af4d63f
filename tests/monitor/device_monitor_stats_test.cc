#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <thread>

#include "nicmon/monitor/device_monitor.h"
#include "nicmon/sim/simulated_rnic.h"
#include "testing/fake_clock.h"
#include "testing/wait_for.h"

// Sampling of counters within the loop of one device, turn by turn.
namespace nicmon {
namespace {

using std::chrono::hours;
using std::chrono::microseconds;
using std::chrono::seconds;
using testing::FakeClock;
using ::testing::HasSubstr;

constexpr char kDevice[] = "rdma0";
/// Longer than files are read at a stretch.
constexpr Duration kSlow = microseconds(100);
constexpr char kPortPath[] = "class/infiniband/rdma0/ports/1/";

class DeviceMonitorStatsTest : public ::testing::Test {
 protected:
  DeviceMonitorStatsTest() : sim_(SimulationSpec{{kDevice}, 1, 400, false}) {
    auto shared = std::make_shared<MonitorShared>();
    shared->verbs = sim_.verbs();
    shared->sysfs = sim_.sysfs();
    shared->sysfs.keep = [this, keep = sim_.sysfs().keep](const std::string& path) {
      return [this, path, read = keep(path)] {
        ++reads_;
        ++files_;
        if (on_read_) {
          on_read_(path);
        }
        clock_.Advance(read_takes_);
        return read();
      };
    };
    shared->sysfs.read = [this, read = sim_.sysfs().read](const std::string& path) {
      ++files_;
      return read(path);
    };
    shared->clock = clock_.clock();
    shared->holds = holds_;
    shared->stats = std::make_shared<NodeStats>();
    shared_ = shared;
  }

  /// As discovery's first sighting; the turn opens the device.
  void Open() {
    monitor_ = std::make_unique<DeviceMonitor>(1, shared_, DeviceSighting{kDevice, -1, "uverbs0"});
    sighting_ = {kDevice, 0, "uverbs0", true};
    monitor_->OnDiscovery(sighting_);
    Turn();
  }
  // Nothing has to be waited for while a file is due, so this returns at once then.
  void Turn() { monitor_->Turn(Duration(0)); }
  /// Turns until a turn reads no file.
  void Finish() {
    for (int before = -1; before != files_;) {
      before = files_;
      Turn();
    }
  }
  void Round() {
    clock_.Advance(seconds(15));
    Turn();
    Finish();
  }
  void Tick() {
    clock_.Advance(seconds(1));
    Turn();
    Finish();
  }
  void Apply(SimCommand command) {
    command.device = kDevice;
    ASSERT_EQ(sim_.Apply(command), "");
  }
  void SetCounter(const std::string& name, uint64_t value) {
    SimCommand command;
    command.port = 1;
    command.counters[name] = value;
    Apply(command);
  }
  void SetState(int state, int event) {
    SimCommand command;
    command.port = 1;
    command.state = state;
    command.event = event;
    Apply(command);
  }
  std::optional<uint64_t> Value(const std::string& path) const {
    const auto stats = port().stats;
    if (stats == nullptr) {
      return std::nullopt;
    }
    for (size_t i = 0; i < stats->values.size(); ++i) {
      if (stats->layout->files[i].path == path) {
        return stats->values[i];
      }
    }
    return std::nullopt;
  }

  std::shared_ptr<const DeviceSnapshot> snapshot() const { return monitor_->snapshot(); }
  PortSnapshot port() const { return snapshot()->ports.at(0); }
  bool link_paused() const { return port().pauses.Has(PauseReason::kLink); }

  FakeClock clock_;
  SimulatedRnic sim_;
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(clock_.clock());
  std::shared_ptr<const MonitorShared> shared_;
  DeviceSighting sighting_;
  Duration read_takes_{0};                                // of a counter; nothing: all in one turn
  int reads_ = 0;                                         // of counters
  int files_ = 0;                                         // read, of any kind
  std::function<void(const std::string& path)> on_read_;  // before each read of a counter
  std::unique_ptr<DeviceMonitor> monitor_;
};

TEST_F(DeviceMonitorStatsTest, APortHasItsCountersSoonAfterTheOpen) {
  SetCounter("link_downed", 3);
  SetCounter("a_new_one", 4);
  read_takes_ = kSlow;
  Open();
  EXPECT_EQ(snapshot()->status, DeviceStatus::kOpen) << "the open does not wait for files";
  EXPECT_EQ(port().stats, nullptr);
  Finish();
  EXPECT_EQ(Value("counters/link_downed"), 3U);
  EXPECT_EQ(Value("hw_counters/a_new_one"), 4U);
  EXPECT_EQ(snapshot()->stats, nullptr) << "the device has none of its own";
  SetCounter("link_downed", 4);
  Round();
  EXPECT_EQ(Value("counters/link_downed"), 4U);
}

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
  EXPECT_NE(port().stats, nullptr);
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
  EXPECT_EQ(port().stats, nullptr);
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
  EXPECT_EQ(port().stats, nullptr);
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
  ASSERT_NE(snapshot()->stats, nullptr);
  EXPECT_EQ(snapshot()->stats->values.at(0), 5U);
  holds_->SetRelease(1, {"maintenance", "ann", clock_.wall(), clock_.wall() + hours(1)});
  monitor_->Submit(CommandKind::kPoke, 0);
  Turn();
  EXPECT_EQ(snapshot()->stats, nullptr);
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
  ASSERT_NE(port().stats, nullptr);
  EXPECT_FALSE(port().stats->layout->counters);
  EXPECT_FALSE(port().stats->layout->hw_counters);
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
