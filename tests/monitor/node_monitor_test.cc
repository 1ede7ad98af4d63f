#include "nicmon/monitor/node_monitor.h"

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <atomic>
#include <thread>

#include "nicmon/sim/simulated_rnic.h"
#include "testing/wait_for.h"

// The whole monitor with its threads over simulated hardware, in real time at a fast tick.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

class NodeMonitorTest : public ::testing::Test {
 protected:
  NodeMonitorTest() { view_options_.tick = options_.tick = milliseconds(100); }
  ~NodeMonitorTest() override {
    sim_.EndHangs();
    if (monitor_) {
      EXPECT_TRUE(monitor_->Stop(seconds(10)));
    }
    monitor_.reset();
    EXPECT_EQ(sim_.Held(), SimHeld{});
  }

  void Start() {
    options_.discovery_interval = milliseconds(50);
    monitor_ =
        std::make_unique<NodeMonitor>(sim_.verbs(), sim_.sysfs(), Clock::Real(), options_, holds_);
    monitor_->Start();
  }

  NodeView View() const {
    ViewInput input = monitor_->Read();
    input.holds = holds_->snapshot();
    input.now_steady = Clock::Real().steady();
    input.now_wall = Clock::Real().wall();
    return BuildView(view_options_, input);
  }
  static const DeviceView* Find(const NodeView& view, const std::string& name) {
    for (const DeviceView& device : view.devices) {
      if (device.data->name == name) {
        return &device;
      }
    }
    return nullptr;
  }
  bool Status(const std::string& name, DeviceStatus status) const {
    const NodeView view = View();
    const DeviceView* device = Find(view, name);
    return device != nullptr && device->data->status == status;
  }
  bool AllServe(size_t devices) const {
    const NodeView view = View();
    return view.devices.size() == devices && view.ports_serving == devices;
  }
  void Apply(SimCommand command, const std::string& device) {
    command.device = device;
    ASSERT_EQ(sim_.Apply(command), "");
  }

  SimulatedRnic sim_{SimulationSpec{{"a", "b", "c"}, 1, 400, false}};
  NodeMonitorOptions options_{.watch_device = [](const std::string&) { return true; }};
  ViewOptions view_options_;
  std::shared_ptr<Holds> holds_ = std::make_shared<Holds>(Clock::Real());
  std::unique_ptr<NodeMonitor> monitor_;
};

TEST_F(NodeMonitorTest, FindsOpensAndWatchesEveryDevice) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  EXPECT_TRUE(View().discovered);
  EXPECT_EQ(View().devices[0].data->name, "a");
}

TEST_F(NodeMonitorTest, AnExcludedDeviceIsNeverOpenedNorRead) {
  options_.watch_device = [](const std::string& name) { return name != "b"; };
  auto reads = std::make_shared<std::atomic<int>>(0);
  SysfsFiles sysfs = sim_.sysfs();
  SysfsFiles spy = sysfs;
  const auto concerns_b = [](const std::string& path) {
    return path.find("infiniband/b") != std::string::npos ||
           path.find("infiniband_verbs/uverbs1") != std::string::npos;
  };
  spy.read = [=](const std::string& path) {
    *reads += concerns_b(path) ? 1 : 0;
    return sysfs.read(path);
  };
  spy.list = [=](const std::string& path) {
    *reads += concerns_b(path) ? 1 : 0;
    return sysfs.list(path);
  };
  auto verbs = std::make_shared<VerbsApi>(*sim_.verbs());
  verbs->open_device = [open = verbs->open_device, reads](ibv_device* device) {
    *reads += std::string(device->name) == "b" ? 1 : 0;
    return open(device);
  };
  verbs->get_device_name = [get = verbs->get_device_name, reads](ibv_device* device) {
    *reads += std::string(device->name) == "b" ? 1 : 0;
    return get(device);
  };
  options_.discovery_interval = milliseconds(50);
  monitor_ = std::make_unique<NodeMonitor>(verbs, spy, Clock::Real(), options_, holds_);
  monitor_->Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(2); }));
  const uint64_t passes = sim_.Calls("get_device_list");
  ASSERT_TRUE(WaitFor([&] { return sim_.Calls("get_device_list") > passes + 3; }));
  EXPECT_EQ(*reads, 0);
}

TEST_F(NodeMonitorTest, VirtualFunctionsOnlyWhenAskedFor) {
  const std::string physfn = "class/infiniband/b/device/physfn";
  ASSERT_EQ(sim_.SetFile(physfn + "/vendor", {0, "0x15b3\n"}), "");
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(2); }));
  EXPECT_TRUE(monitor_->Stop(seconds(10)));
  options_.all_functions = true;
  Start();
  EXPECT_TRUE(WaitFor([&] { return AllServe(3); }));
}

TEST_F(NodeMonitorTest, ASilentRemovalReturnsSoonAndTheDeviceComesBack) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand unplug;
  unplug.unplug = unplug.silent = true;
  Apply(unplug, "b");
  EXPECT_TRUE(sim_.AwaitRemoval("b", seconds(2)));
  ASSERT_TRUE(WaitFor([&] { return Status("b", DeviceStatus::kAbsent); }));
  EXPECT_TRUE(WaitFor([&] { return View().ports_serving == 2; }));
  SimCommand plug;
  plug.plug = true;
  Apply(plug, "b");
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  EXPECT_EQ(Find(View(), "b")->data->opens_ok, 2U);
}

TEST_F(NodeMonitorTest, ADriverReloadComesBackUnderANewIndex) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand unplug;
  unplug.unplug = true;
  Apply(unplug, "a");
  ASSERT_TRUE(WaitFor([&] { return Status("a", DeviceStatus::kAbsent); }));
  SimCommand plug;
  plug.plug = true;
  Apply(plug, "a");
  EXPECT_TRUE(WaitFor([&] { return AllServe(3); }));
}

TEST_F(NodeMonitorTest, ANewDeviceIsWatched) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand plug;
  plug.plug = true;
  Apply(plug, "d");
  EXPECT_TRUE(WaitFor([&] { return AllServe(4); }));
}

TEST_F(NodeMonitorTest, ARenameKeepsTheMonitor) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  const DeviceId id = Find(View(), "a")->data->id;
  SimCommand rename;
  rename.rename = "rocep1s0";
  Apply(rename, "a");
  ASSERT_TRUE(WaitFor([&] { return Find(View(), "rocep1s0") != nullptr; }));
  EXPECT_EQ(Find(View(), "rocep1s0")->data->id, id);
  EXPECT_EQ(Find(View(), "rocep1s0")->data->opens_ok, 1U);
  EXPECT_EQ(Find(View(), "a"), nullptr);
}

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
    ASSERT_TRUE(WaitFor([&] { return Find(View(), device)->ports[0].data->stats != nullptr; }));
  }
  SimCommand hang;
  hang.hang = SimCommand::Hang{"sysfs_read", seconds(3600)};
  Apply(hang, "b");
  ASSERT_TRUE(WaitFor([&] { return Find(View(), "b")->stalled; }));
  EXPECT_EQ(Find(View(), "b")->stalled_call, "sysfs_read");
  const auto sampled = [&] { return Find(View(), "c")->ports[0].data->stats->sampled; };
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

TEST_F(NodeMonitorTest, AFailingDeviceListIsReportedAndLosesNothing) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  SimCommand fail;
  fail.fail = SimCommand::Fail{"get_device_list", EMFILE, 1'000'000, 0};
  Apply(fail, "");
  ASSERT_TRUE(WaitFor([&] { return !View().discovery_note.empty(); }));
  EXPECT_TRUE(WaitFor([&] { return AllServe(3); }));
  fail.fail->times = 0;
  Apply(fail, "");
  EXPECT_TRUE(WaitFor([&] { return View().discovery_note.empty(); }));
}

TEST_F(NodeMonitorTest, ANodeWithoutRdmaKeepsLooking) {
  auto verbs = std::make_shared<VerbsApi>(*sim_.verbs());
  auto absent = std::make_shared<std::atomic<bool>>(true);
  verbs->get_device_list = [get = verbs->get_device_list, absent](int* count) -> ibv_device** {
    if (*absent) {
      errno = ENOSYS;
      return nullptr;
    }
    return get(count);
  };
  options_.discovery_interval = milliseconds(20);
  SysfsFiles empty = sim_.sysfs();
  empty.list = [](const std::string&) { return std::vector<std::string>(); };
  monitor_ = std::make_unique<NodeMonitor>(verbs, empty, Clock::Real(), options_, holds_);
  monitor_->Start();
  ASSERT_TRUE(WaitFor([&] { return View().discovered; }));
  EXPECT_TRUE(View().devices.empty());
  *absent = false;
  EXPECT_TRUE(WaitFor([&] { return AllServe(3); }));
}

TEST_F(NodeMonitorTest, OnlyAnAbsentDeviceCanBeForgotten) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  const DeviceId id = Find(View(), "a")->data->id;
  EXPECT_FALSE(monitor_->Forget(id));
  SimCommand unplug;
  unplug.unplug = true;
  Apply(unplug, "a");
  ASSERT_TRUE(WaitFor([&] { return Status("a", DeviceStatus::kAbsent); }));
  EXPECT_TRUE(monitor_->Forget(id));
  EXPECT_EQ(View().devices.size(), 2U);
  EXPECT_EQ(monitor_->Submit(id, CommandKind::kRequery, 1), nullptr);
}

// Everything at once from many threads: what TSan is for.
TEST_F(NodeMonitorTest, ReadersCommandsAndHardwareAtOnce) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop) {
        View();
      }
    });
  }
  threads.emplace_back([&] {
    while (!stop) {
      for (DeviceId id = 1; id <= 3; ++id) {
        if (const auto command = monitor_->Submit(id, CommandKind::kRequery, 0)) {
          command->Wait(seconds(1), nullptr);
        }
      }
    }
  });
  for (int round = 0; round < 30; ++round) {
    SimCommand flap;
    flap.event = IBV_EVENT_PORT_ERR;
    flap.state = kStateDown;
    Apply(flap, "a");
    flap.event = IBV_EVENT_PORT_ACTIVE;
    flap.state = kStateActive;
    Apply(flap, "a");
    SimCommand unplug;
    unplug.unplug = true;
    unplug.silent = round % 2 == 0;
    Apply(unplug, "b");
    SimCommand plug;
    plug.plug = true;
    ASSERT_TRUE(sim_.AwaitRemoval("b", seconds(10)));
    Apply(plug, "b");
    Hold hold;
    holds_->Pause({3, 1}, "c", "x", "", std::nullopt, true, &hold);
    holds_->Resume({3, 1}, "", &hold);
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(WaitFor([&] { return AllServe(3); }));
}

}  // namespace
}  // namespace nicmon
