#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "config/temp_file.h"
#include "nicmon/app/hardware.h"
#include "nicmon/app/watchdog.h"
#include "nicmon/base/log.h"
#include "testing/log_capture.h"

namespace nicmon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::LogCapture;
using testing::TempDir;

TEST(DeviceFilter, MatchesWholeNamesAndExcludeIsStronger) {
  Config config;
  EXPECT_TRUE(DeviceFilter(config)("any"));
  config.device_include = "mlx5_[0-3]|rxe.*";
  config.device_exclude = "mlx5_2|rxe0";
  const auto watch = DeviceFilter(config);
  EXPECT_TRUE(watch("mlx5_1"));
  EXPECT_FALSE(watch("mlx5_11"));
  EXPECT_FALSE(watch("mlx5_2"));
  EXPECT_TRUE(watch("rxe01"));
  EXPECT_FALSE(watch("rxe0"));
  EXPECT_FALSE(watch("irdma0"));
}

TEST(OpenHardware, RefusesToSimulateBesideRealDevices) {
  const TempDir host;
  Config config;
  config.simulate = "";
  EXPECT_NE(OpenHardware(config, host.path()).simulated, nullptr);
  std::filesystem::create_directories(host.path() + "/class/infiniband/hfi1_0");
  std::filesystem::create_directories(host.path() + "/class/infiniband/irdma0");
  try {
    OpenHardware(config, host.path());
    FAIL() << "not refused";
  } catch (const std::runtime_error& error) {
    EXPECT_THAT(error.what(), AllOf(HasSubstr("hfi1_0, irdma0"), HasSubstr("--simulate-force")));
  }
  config.simulate_force = true;
  EXPECT_NE(OpenHardware(config, host.path()).simulated, nullptr);
}

TEST(OpenHardware, AnExplicitSysfsRootGivesTheIdentityOfSimulatedDevices) {
  const TempDir host;
  const TempDir tree;
  std::filesystem::create_directories(tree.path() + "/class/infiniband/mlx5_0");
  tree.Write("class/infiniband/mlx5_0/board_id", "BOARD\n");
  Config config;
  config.simulate = "";
  EXPECT_NE(OpenHardware(config, host.path()).sysfs.read("class/infiniband/mlx5_0/board_id").text,
            "BOARD\n");
  config.sysfs_root = tree.path();
  config.sysfs_root_given = true;
  EXPECT_EQ(OpenHardware(config, host.path()).sysfs.read("class/infiniband/mlx5_0/board_id").text,
            "BOARD\n");
}

NodeView ViewWithDevice(bool stalled) {
  auto snapshot = std::make_shared<DeviceSnapshot>();
  snapshot->id = 7;
  snapshot->name = "mlx5_0";
  DeviceView device;
  device.data = snapshot;
  device.stalled = stalled;
  device.stalled_call = "query_port";
  device.stalled_for = std::chrono::milliseconds(3250);
  NodeView view;
  view.devices.push_back(device);
  return view;
}

TEST(Watchdog, LogsWhatBeginsAndEndsToBeStuckOnce) {
  LogCapture capture;
  std::vector<std::string> told;
  Watchdog watchdog(
      std::make_shared<Holds>(Clock::Real()), [](DeviceId) {},
      [&](const Transition& event) { told.push_back(event.before + ">" + event.after); });
  NodeView stuck = ViewWithDevice(true);
  stuck.discovery_stalled = true;
  for (const NodeView& view :
       {ViewWithDevice(false), stuck, stuck, ViewWithDevice(false), ViewWithDevice(false)}) {
    watchdog.Turn(view);
  }
  EXPECT_THAT(told, ElementsAre("opening>stalled", "stalled>opening"));
  EXPECT_THAT(
      capture.Records(),
      ElementsAre("WARNING device does not answer, its ports do not serve device=mlx5_0 "
                  "call=query_port seconds=3.2",
                  "WARNING the device list does not answer, new devices are not seen",
                  "INFO device answers again device=mlx5_0", "INFO the device list answers again"));
}

TEST(Watchdog, EndsHoldsThatHaveRunOutAndPokesTheirDevice) {
  LogCapture capture;
  auto now = std::make_shared<WallTime>(std::chrono::hours(1));
  Clock clock = Clock::Real();
  clock.wall = [now] { return *now; };
  auto holds = std::make_shared<Holds>(clock);
  Hold hold;
  holds->Pause({7, 1}, "mlx5_0", "bad cable", "ann", *now + std::chrono::seconds(10), false, &hold);
  std::vector<DeviceId> poked;
  std::vector<Transition> told;
  Watchdog watchdog(
      holds, [&](DeviceId id) { poked.push_back(id); },
      [&](Transition event) { told.push_back(std::move(event)); });
  watchdog.Turn({});
  EXPECT_THAT(poked, IsEmpty());
  *now += std::chrono::seconds(11);
  watchdog.Turn({});
  watchdog.Turn({});
  EXPECT_THAT(poked, ElementsAre(7));
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type, TransitionType::kHold);
  EXPECT_EQ(told[0].device + told[0].cause + told[0].before, "mlx5_0expiredheld by ann");
  EXPECT_EQ(told[0].hold, hold.id);
  EXPECT_THAT(capture.Records(), ElementsAre("INFO hold has run out device=mlx5_0 port=1 id=" +
                                             hold.id + " reason=\"bad cable\" by=ann"));
}

TEST(Watchdog, RecordsReleasesThatEndByThemselves) {
  auto now = std::make_shared<WallTime>(std::chrono::hours(1));
  Clock clock = Clock::Real();
  clock.wall = [now] { return *now; };
  auto holds = std::make_shared<Holds>(clock);
  holds->SetRelease(7, Release{"upgrade", "ann", *now, *now + std::chrono::seconds(10)});
  std::vector<Transition> told;
  Watchdog watchdog(
      holds, [](DeviceId) {}, [&](Transition event) { told.push_back(std::move(event)); });
  watchdog.Turn({});
  EXPECT_THAT(told, IsEmpty());
  *now += std::chrono::seconds(11);
  watchdog.Turn({});
  watchdog.Turn({});
  ASSERT_EQ(told.size(), 1U);
  EXPECT_EQ(told[0].type, TransitionType::kHold);
  EXPECT_EQ(told[0].cause + " " + told[0].before, "expired released by ann");
}

TEST(Watchdog, RecordsHoldsThatLoseTheirDeviceAndGetItBack) {
  auto now = std::make_shared<WallTime>(std::chrono::hours(1));
  Clock clock = Clock::Real();
  clock.wall = [now] { return *now; };
  auto holds = std::make_shared<Holds>(clock);
  const SeenDevice own{1, "mlx5_0", {"0000:0000:0000:0001", "0000:0a:00.0"}};
  const SeenDevice other{2, "mlx5_0", {"0000:0000:0000:0002", "0000:0a:00.0"}};
  holds->SeePresent({own});
  Hold hold;
  holds->Pause({1, 1}, "mlx5_0", "bad cable", "ann", std::nullopt, false, &hold);
  std::vector<std::string> told;
  const auto tell = [&](const Transition& event) {
    EXPECT_EQ(event.hold, hold.id);
    told.push_back(event.cause);
  };
  Watchdog watchdog(
      holds, [](DeviceId) {}, tell);
  const auto turn = [&](Watchdog& dog) {
    NodeView view;
    view.now = *now;
    view.holds = holds->snapshot();
    dog.Turn(view);
  };
  turn(watchdog);
  EXPECT_THAT(told, IsEmpty());
  *now += std::chrono::hours(1);
  holds->SeePresent({other});
  turn(watchdog);
  turn(watchdog);
  EXPECT_THAT(told, ElementsAre("orphaned"));
  *now += std::chrono::hours(1);
  Watchdog restarted(
      holds, [](DeviceId) {}, tell);
  turn(restarted);
  EXPECT_THAT(told, ElementsAre("orphaned")) << "it was recorded when it happened";
  holds->SeePresent({own});
  turn(restarted);
  turn(restarted);
  EXPECT_THAT(told, ElementsAre("orphaned", "device_back"));
}

}  // namespace
}  // namespace nicmon
