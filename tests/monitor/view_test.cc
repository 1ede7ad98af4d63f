#include "nicmon/monitor/view.h"

#include <gtest/gtest.h>

#include "testing/fake_clock.h"

namespace nicmon {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::FakeClock;

class ViewTest : public ::testing::Test {
 protected:
  ViewTest() {
    device_.id = 1;
    device_.name = "rdma0";
    device_.status = DeviceStatus::kOpen;
    device_.published = clock_.steady();
    PortSnapshot port;
    port.number = 1;
    port.state = kStateActive;
    port.link_layer = "Ethernet";
    port.last_query_steady = clock_.steady();
    device_.ports.push_back(port);
    options_.node_name = "node-1";
  }

  PortSnapshot& port() { return device_.ports[0]; }

  NodeView View() {
    ViewInput input;
    input.devices.push_back({std::make_shared<const DeviceSnapshot>(device_), heartbeat_});
    input.holds = holds_.snapshot();
    input.discovered = true;
    input.now_steady = clock_.steady();
    input.now_wall = clock_.wall();
    return BuildView(options_, input);
  }

  FakeClock clock_;
  Holds holds_{clock_.clock()};
  DeviceSnapshot device_;
  Heartbeat::Reading heartbeat_;
  ViewOptions options_;
};

TEST_F(ViewTest, AnActivePortServes) {
  const NodeView node = View();
  EXPECT_TRUE(node.devices[0].ports[0].serving);
  EXPECT_EQ(node.ports_serving, 1U);
  EXPECT_EQ(node.devices[0].status_name(), "open");
}

TEST_F(ViewTest, OnlyExactlyActiveIsUp) {
  for (const int state : {0, 1, 2, 3, 5, 6}) {
    port().state = state;
    const NodeView node = View();
    EXPECT_FALSE(node.devices[0].ports[0].up) << state;
    EXPECT_FALSE(node.devices[0].ports[0].serving) << state;
  }
}

TEST_F(ViewTest, EveryPauseReasonStopsServingAndIsShown) {
  for (const PauseReason reason : kPauseReasons) {
    if (reason == PauseReason::kAdmin) {
      continue;  // comes from holds
    }
    port().pauses = {};
    port().pauses.Set(reason);
    const NodeView node = View();
    const PortView& view = node.devices[0].ports[0];
    EXPECT_FALSE(view.serving) << PauseReasonName(reason);
    ASSERT_EQ(view.paused.size(), 1U);
    EXPECT_EQ(view.paused[0].reason, reason);
    EXPECT_TRUE(view.up);
  }
}

TEST_F(ViewTest, AHoldPausesAtOnceWithoutTheDevice) {
  Hold hold;
  holds_.Pause({1, 1}, "rdma0", "bad cable", "ann", clock_.wall() + seconds(60), false, &hold);
  const NodeView node = View();
  const PortView& view = node.devices[0].ports[0];
  EXPECT_FALSE(view.serving);
  ASSERT_TRUE(view.Paused(PauseReason::kAdmin));
  EXPECT_EQ(view.paused[0].note, "bad cable");
  EXPECT_EQ(view.paused[0].by, "ann");
  EXPECT_EQ(view.paused[0].id, hold.id);
  EXPECT_EQ(view.paused[0].until, clock_.wall() + seconds(60));
  EXPECT_EQ(view.admin_pauses, 1U);
  EXPECT_EQ(node.ports_held, 1U);
  clock_.Advance(seconds(60));
  port().last_query_steady = clock_.steady();
  EXPECT_TRUE(View().devices[0].ports[0].serving);
}

TEST_F(ViewTest, AReleasePausesAtOnceWithoutTheDevice) {
  holds_.SetRelease(1, {"upgrade", "ann", clock_.wall(), clock_.wall() + seconds(60)});
  const NodeView node = View();
  const PortView& view = node.devices[0].ports[0];
  EXPECT_FALSE(view.serving);
  ASSERT_TRUE(view.Paused(PauseReason::kReleased));
  EXPECT_EQ(view.paused[0].note, "upgrade");
}

TEST_F(ViewTest, StaleAfterThreeTicksAndAStalePortDoesNotServe) {
  clock_.Advance(seconds(3));
  EXPECT_FALSE(View().devices[0].ports[0].stale);
  clock_.Advance(milliseconds(1));
  const NodeView node = View();
  const PortView& view = node.devices[0].ports[0];
  EXPECT_TRUE(view.stale);
  EXPECT_FALSE(view.serving);
  EXPECT_TRUE(view.up) << "the last state stays";
}

TEST_F(ViewTest, AFailedQueryIsStaleUnlessAnEventVouchesForThePort) {
  port().stale = true;
  EXPECT_FALSE(View().devices[0].ports[0].serving);
  port().event_evidence = true;
  EXPECT_TRUE(View().devices[0].ports[0].stale);
  EXPECT_TRUE(View().devices[0].ports[0].serving);
  clock_.Advance(seconds(4));
  EXPECT_FALSE(View().devices[0].ports[0].serving) << "not for ever";
}

TEST_F(ViewTest, ABusyThreadIsStalledAfterThreeTicks) {
  heartbeat_ = {"query_port", clock_.steady()};
  clock_.Advance(milliseconds(2999));
  EXPECT_FALSE(View().devices[0].stalled);
  clock_.Advance(milliseconds(1));
  const NodeView node = View();
  EXPECT_TRUE(node.devices[0].stalled);
  EXPECT_EQ(node.devices[0].stalled_call, "query_port");
  EXPECT_EQ(node.devices[0].stalled_for, seconds(3));
  EXPECT_EQ(node.devices[0].status_name(), "stalled");
  EXPECT_EQ(node.devices[0].snapshot_age, seconds(3));
}

TEST_F(ViewTest, APortOfADeviceThatIsNotWatchedIsUnknownNotStale) {
  device_.status = DeviceStatus::kAbsent;
  port().state.reset();
  clock_.Advance(seconds(100));
  const NodeView node = View();
  EXPECT_FALSE(node.devices[0].ports[0].stale);
  EXPECT_FALSE(node.devices[0].ports[0].serving);
}

TEST_F(ViewTest, TheLastMatchingExpectSpeedWins) {
  const auto rule = [](ExpectSpeed::By by, const std::string& wanted, uint64_t bps) {
    return ExpectSpeed{by, [wanted](const std::string& text) { return text == wanted; }, bps};
  };
  EXPECT_EQ(View().devices[0].ports[0].expected_speed_bps, std::nullopt);
  options_.expect_speed = {
      rule(ExpectSpeed::By::kAll, "", 1), rule(ExpectSpeed::By::kName, "rdma0", 2),
      rule(ExpectSpeed::By::kLink, "ib", 3), rule(ExpectSpeed::By::kBoard, "", 4)};
  EXPECT_EQ(View().devices[0].ports[0].expected_speed_bps, 2U);
  options_.expect_speed.push_back(rule(ExpectSpeed::By::kLink, "eth", 5));
  EXPECT_EQ(View().devices[0].ports[0].expected_speed_bps, 5U);
  device_.identity.board_id = "MT_1";
  options_.expect_speed.push_back(rule(ExpectSpeed::By::kBoard, "MT_1", 6));
  EXPECT_EQ(View().devices[0].ports[0].expected_speed_bps, 6U);
}

TEST_F(ViewTest, ReadyCountsPortsThatAreUp) {
  EXPECT_EQ(View().expected_ports, std::nullopt);
  EXPECT_TRUE(View().Ready());
  options_.expect_ports = 2;
  EXPECT_FALSE(View().Ready());
  options_.expect_ports_auto = true;
  EXPECT_TRUE(View().Ready()) << "nothing is required yet";
  holds_.NoteActive({1, 1}, 100);
  EXPECT_EQ(View().expected_ports, 1U);
  EXPECT_TRUE(View().Ready());
  port().state = kStateDown;
  EXPECT_FALSE(View().Ready());
}

TEST_F(ViewTest, WhyItIsNotReadyNamesWhatIsNotUp) {
  EXPECT_EQ(WhyNotReady(View()), "");
  options_.expect_ports = 1;
  EXPECT_EQ(WhyNotReady(View()), "");
  options_.expect_ports = 2;
  EXPECT_EQ(WhyNotReady(View()), "1 of 2 expected ports up: no more are known");
  port().state = kStateDown;
  EXPECT_EQ(WhyNotReady(View()), "0 of 2 expected ports up: rdma0/1 down");
  heartbeat_ = {"query_port", clock_.steady() - seconds(9)};
  EXPECT_EQ(WhyNotReady(View()), "0 of 2 expected ports up: rdma0/1 stalled");
  heartbeat_ = {};
  device_.status = DeviceStatus::kAbsent;
  port().state.reset();
  EXPECT_EQ(WhyNotReady(View()), "0 of 2 expected ports up: rdma0/1 absent");
  device_.ports.clear();
  device_.status = DeviceStatus::kOpening;
  EXPECT_EQ(WhyNotReady(View()), "0 of 2 expected ports up: rdma0 opening");
}

TEST_F(ViewTest, WhyItIsNotReadyNamesRequiredPortsFirstAndNotAllOfMany) {
  options_.expect_ports = 20;
  const PortSnapshot one = port();
  for (uint32_t number = 2; number <= 20; ++number) {
    device_.ports.push_back(one);
    device_.ports.back().number = number;
  }
  for (PortSnapshot& each : device_.ports) {
    each.state = kStateDown;
  }
  holds_.NoteActive({1, 20}, 100);
  const std::string why = WhyNotReady(View());
  EXPECT_TRUE(why.starts_with("0 of 20 expected ports up: rdma0/20 down, rdma0/1 down, ")) << why;
  EXPECT_TRUE(why.ends_with("rdma0/15 down and 4 more")) << why;
}

TEST_F(ViewTest, WhyItIsNotReadyNamesPortsOfDevicesThatAreNotThereYet) {
  holds_.NoteActive({1, 1}, 100);
  HoldsSnapshot holds = *holds_.snapshot();
  KeptDevice& kept = holds.kept.begin()->second;
  kept.device = 0;
  kept.name = "rdma9";
  ViewInput input;
  input.discovered = true;
  input.holds = std::make_shared<const HoldsSnapshot>(holds);
  options_.expect_ports_auto = true;
  EXPECT_EQ(WhyNotReady(BuildView(options_, input)),
            "0 of 1 expected ports up: rdma9/1 not seen since the start");
}

TEST_F(ViewTest, HeldPortsOfDevicesThatAreNotThereYetAreCounted) {
  holds_.NoteActive({1, 1}, 100);
  Hold hold;
  holds_.Pause({1, 1}, "rdma0", "bad cable", "ann", std::nullopt, false, &hold);
  ViewInput input;
  input.now_wall = clock_.wall();
  HoldsSnapshot holds = *holds_.snapshot();
  for (auto& [number, kept] : holds.kept) {
    kept.device = 0;
  }
  const auto counted = [&] {
    input.holds = std::make_shared<const HoldsSnapshot>(holds);
    const NodeView node = BuildView(options_, input);
    return std::pair(node.ports_held, node.ports_required);
  };
  EXPECT_EQ(counted(), std::pair(1U, 1U));
  options_.watch_device = [](const std::string&) { return false; };
  EXPECT_EQ(counted(), std::pair(0U, 0U)) << "it is not to be watched";
  options_.watch_device = nullptr;
  holds.kept.begin()->second.orphaned_since = clock_.wall();
  EXPECT_EQ(counted(), std::pair(0U, 0U)) << "another card sits in its place";
}

TEST_F(ViewTest, DevicesComeInTheOrderThatPeopleCountIn) {
  ViewInput input;
  for (const char* name : {"mlx5_10", "rocep3s0f0", "mlx5_2", "mlx5_bond_0", "mlx5_0"}) {
    auto device = std::make_shared<DeviceSnapshot>(device_);
    device->name = name;
    input.devices.push_back({device, heartbeat_});
  }
  input.holds = holds_.snapshot();
  std::vector<std::string> names;
  for (const DeviceView& device : BuildView(options_, input).devices) {
    names.push_back(device.data->name);
  }
  EXPECT_EQ(names,
            (std::vector<std::string>{"mlx5_0", "mlx5_2", "mlx5_10", "mlx5_bond_0", "rocep3s0f0"}));
}

TEST_F(ViewTest, StatsAgeIsThatOfTheLastCompleteRoundAtTheTimeOfReading) {
  EXPECT_EQ(View().devices[0].ports[0].stats_age, std::nullopt);
  StatsRound round;
  round.sampled = clock_.steady();
  port().stats.emplace().round = std::make_shared<StatsRound>(round);
  clock_.Advance(milliseconds(1500));
  EXPECT_EQ(View().devices[0].ports[0].stats_age, milliseconds(1500));
  clock_.Advance(seconds(1));
  EXPECT_EQ(View().devices[0].ports[0].stats_age, milliseconds(2500));
}

}  // namespace
}  // namespace nicmon
