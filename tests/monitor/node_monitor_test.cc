#include <infiniband/verbs.h>

#include <atomic>
#include <cerrno>
#include <thread>
#include <vector>

#include "monitor/node_monitor_fixture.h"
#include "testing/wait_for.h"

// Discovery: devices that are found, excluded, leave, return and change their name.
namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::WaitFor;

TEST_F(NodeMonitorTest, FindsOpensAndWatchesEveryDevice) {
  Start();
  ASSERT_TRUE(WaitFor([&] { return AllServe(3); }));
  EXPECT_TRUE(WaitFor([&] { return View().discovered; }));
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
