#include <gmock/gmock.h>

#include <map>
#include <set>

#include "metrics/page.h"
#include "nicmon/metrics/table.h"

// Which series there are, in which state of a device and its ports.
namespace nicmon {
namespace {

using test::DeviceSpec;
using test::kAbsent;
using test::Page;
using test::PortValue;
using test::WithLabel;
using ::testing::Optional;

TEST(Table, NamesAreUniqueAndHelpIsOneLine) {
  std::set<std::string_view> names;
  for (const MetricRow& row : MetricTable()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_TRUE(row.help.ends_with(".")) << row.name;
    EXPECT_EQ(row.help.find('\n'), std::string_view::npos) << row.name;
    EXPECT_EQ(row.name.ends_with("_total"), row.type == prometheus::MetricType::Counter)
        << row.name;
  }
}

TEST(Families, ComeInTableOrderWithoutEmptyOnes) {
  const auto families = BuildFamilies(Page::InputOf({DeviceSpec("mlx5_0")}, MetricsProfile::kFull));
  auto row = MetricTable().begin();
  for (const auto& family : families) {
    EXPECT_FALSE(family.metric.empty()) << family.name;
    while (row != MetricTable().end() && row->name != family.name) {
      ++row;
    }
    ASSERT_NE(row, MetricTable().end()) << family.name << " is out of order";
  }
}

TEST(Families, CountersExistFromTheStart) {
  DeviceSpec device("mlx5_0");
  device.data.ports[0] = PortSnapshot{};  // known by its number only
  device.data.ports[0].number = 1;
  device.ports[0] = PortView{};
  const Page page({device});
  for (const char* series : {
           "nicmon_port_pauses_total{device=\"mlx5_0\",port=\"1\",reason=\"link\"}",
           "nicmon_port_pauses_total{device=\"mlx5_0\",port=\"1\",reason=\"admin\"}",
           "nicmon_port_flaps_total{device=\"mlx5_0\",port=\"1\"}",
           "nicmon_port_recoveries_total{device=\"mlx5_0\",port=\"1\",source=\"tick\"}",
           "nicmon_port_down_seconds_total{device=\"mlx5_0\",port=\"1\"}",
           "nicmon_port_transitions_total{device=\"mlx5_0\",port=\"1\",to=\"down\"}",
           "nicmon_port_events_total{device=\"mlx5_0\",port=\"1\",event=\"port_err\"}",
           "nicmon_reconcile_mismatches_total{device=\"mlx5_0\",port=\"1\",kind=\"missed_event\"}",
           "nicmon_port_queries_total{device=\"mlx5_0\",port=\"1\",result=\"error\"}",
           "nicmon_port_speed_changes_total{device=\"mlx5_0\",port=\"1\"}",
           "nicmon_port_gid_changes_total{device=\"mlx5_0\",port=\"1\"}",
           "nicmon_port_lid_changes_total{device=\"mlx5_0\",port=\"1\"}",
           "nicmon_device_events_total{device=\"mlx5_0\",event=\"device_fatal\"}",
           "nicmon_device_events_total{device=\"mlx5_0\",event=\"device_speed_change\"}",
           "nicmon_device_events_total{device=\"mlx5_0\",event=\"other\"}",
           "nicmon_async_read_errors_total{device=\"mlx5_0\"}",
           "nicmon_device_opens_total{device=\"mlx5_0\",result=\"error\"}",
       }) {
    EXPECT_THAT(page.Get(series), Optional(std::string("0"))) << series;
  }
  EXPECT_EQ(page.Count("nicmon_port_events_total"), 7U);
}

TEST(Families, WhatIsUnknownIsAbsent) {
  DeviceSpec device("mlx5_0");
  device.data.ports[0] = PortSnapshot{};
  device.data.ports[0].number = 1;
  device.ports[0] = PortView{};
  const Page page({device}, MetricsProfile::kFull);
  for (const char* name : {"nicmon_port_state_id",
                           "nicmon_port_physical_state_id",
                           "nicmon_port_state",
                           "nicmon_port_physical_state",
                           "nicmon_port_speed_source",
                           "nicmon_port_state_last_change_timestamp_seconds",
                           "nicmon_port_hold_since_timestamp_seconds",
                           "nicmon_port_hold_until_timestamp_seconds",
                           "nicmon_port_effective_speed_bytes_per_second",
                           "nicmon_port_expected_speed_bytes_per_second",
                           "nicmon_port_nominal_speed_bytes_per_second",
                           "nicmon_port_baseline_speed_bytes_per_second",
                           "nicmon_port_link_width_lanes",
                           "nicmon_port_mtu_bytes",
                           "nicmon_port_lid",
                           "nicmon_port_sm_lid",
                           "nicmon_port_gid_info",
                           "nicmon_port_bandwidth_estimate_bytes_per_second",
                           "nicmon_ports_expected",
                           "nicmon_config_reload_success",
                           "process_open_fds"}) {
    EXPECT_EQ(page.Count(name), 0U) << name;
  }
  EXPECT_THAT(PortValue(page, "nicmon_port_up"), Optional(std::string("0")));
}

TEST(Families, NotOpenTellsTheReasonAndEndsWithTheOpen) {
  const std::map<DeviceStatus, std::string> reasons = {{DeviceStatus::kOpening, "opening"},
                                                       {DeviceStatus::kAbsent, "absent"},
                                                       {DeviceStatus::kDenied, "denied"},
                                                       {DeviceStatus::kFatal, "fatal"},
                                                       {DeviceStatus::kReleased, "released"}};
  for (const auto& [status, reason] : reasons) {
    DeviceSpec device("mlx5_0");
    device.data.status = status;
    const Page page({device}, MetricsProfile::kMinimal);
    EXPECT_EQ(page.Count("nicmon_device_not_open"), 1U);
    EXPECT_THAT(page.Get("nicmon_device_not_open{device=\"mlx5_0\",reason=\"" + reason + "\"}"),
                Optional(std::string("1")));
    EXPECT_THAT(page.Get("nicmon_device_up{device=\"mlx5_0\"}"), Optional(std::string("0")));
  }
  const Page page({DeviceSpec("mlx5_0")}, MetricsProfile::kMinimal);
  EXPECT_EQ(page.Count("nicmon_device_not_open"), 0U);
  EXPECT_THAT(page.Get("nicmon_device_up{device=\"mlx5_0\"}"), Optional(std::string("1")));
}

TEST(Families, StalledIsTheViewsAnswer) {
  DeviceSpec device("mlx5_0");
  EXPECT_THAT(Page({device}).Get("nicmon_device_stalled{device=\"mlx5_0\"}"),
              Optional(std::string("0")));
  device.stalled = true;
  EXPECT_THAT(Page({device}).Get("nicmon_device_stalled{device=\"mlx5_0\"}"),
              Optional(std::string("1")));
}

TEST(Families, PortOfAnAbsentDeviceStaysDown) {
  DeviceSpec device("mlx5_0");
  device.data.status = DeviceStatus::kAbsent;
  device.data.ports[0].state = std::nullopt;
  device.ports[0].up = device.ports[0].serving = false;
  const Page page({device});
  EXPECT_THAT(PortValue(page, "nicmon_port_up"), Optional(std::string("0")));
  EXPECT_THAT(PortValue(page, "nicmon_port_required"), Optional(std::string("1")));
  EXPECT_EQ(PortValue(page, "nicmon_port_state_id"), kAbsent);
}

TEST(Families, PortThatIsNotActiveHasNoSpeed) {
  DeviceSpec device = test::FullestDevice("mlx5_0");
  device.data.ports[0].state = 1;
  device.ports[0].up = device.ports[0].serving = false;
  const Page page({device}, MetricsProfile::kFull);
  EXPECT_THAT(PortValue(page, "nicmon_port_state_id"), Optional(std::string("1")));
  EXPECT_EQ(PortValue(page, "nicmon_port_effective_speed_bytes_per_second"), kAbsent);
  EXPECT_EQ(PortValue(page, "nicmon_port_nominal_speed_bytes_per_second"), kAbsent);
  EXPECT_EQ(PortValue(page, "nicmon_port_link_width_lanes"), kAbsent);
  EXPECT_EQ(PortValue(page, "nicmon_port_bandwidth_estimate_bytes_per_second"), kAbsent);
  EXPECT_EQ(page.Count("nicmon_port_speed_source"), 0U);
  // What is wanted of it does not depend on what it does.
  EXPECT_NE(PortValue(page, "nicmon_port_expected_speed_bytes_per_second"), kAbsent);
  EXPECT_NE(PortValue(page, "nicmon_port_baseline_speed_bytes_per_second"), kAbsent);
}

TEST(Families, ReleasedDeviceHasNoUpStateOrSpeed) {
  DeviceSpec device = test::FullestDevice("mlx5_0");
  device.data.status = DeviceStatus::kReleased;
  device.ports[0].serving = false;
  device.ports[0].paused.push_back({PauseReason::kReleased});
  const Page page({device}, MetricsProfile::kFull);
  for (const char* name :
       {"nicmon_port_up", "nicmon_port_state_id", "nicmon_port_physical_state_id",
        "nicmon_port_state", "nicmon_port_physical_state",
        "nicmon_port_state_last_change_timestamp_seconds",
        "nicmon_port_effective_speed_bytes_per_second",
        "nicmon_port_expected_speed_bytes_per_second", "nicmon_port_nominal_speed_bytes_per_second",
        "nicmon_port_baseline_speed_bytes_per_second", "nicmon_port_link_width_lanes",
        "nicmon_port_speed_source", "nicmon_port_bandwidth_estimate_bytes_per_second"}) {
    EXPECT_EQ(page.Count(name), 0U) << name;
  }
  EXPECT_THAT(page.Get("nicmon_port_paused" + WithLabel("reason=\"released\"")),
              Optional(std::string("1")));
  EXPECT_THAT(PortValue(page, "nicmon_port_speed_changes_total"), Optional(std::string("0")));
}

TEST(Families, PausedHasEveryReason) {
  for (const PauseReason reason : kPauseReasons) {
    DeviceSpec device("mlx5_0");
    device.ports[0].paused.push_back({reason});
    const Page page({device}, MetricsProfile::kMinimal);
    EXPECT_EQ(page.Count("nicmon_port_paused"), 5U);
    for (const PauseReason other : kPauseReasons) {
      const std::string series =
          "nicmon_port_paused" +
          WithLabel("reason=\"" + std::string(PauseReasonName(other)) + "\"");
      EXPECT_THAT(page.Get(series), Optional(std::string(other == reason ? "1" : "0"))) << series;
    }
  }
}

TEST(Families, StateSetsAreInTheFullProfileOnly) {
  DeviceSpec device("mlx5_0");
  device.data.ports[0].state = 5;
  device.data.ports[0].physical_state = 99;
  const Page page({device}, MetricsProfile::kFull);
  EXPECT_EQ(page.Count("nicmon_port_state"), 6U);
  EXPECT_EQ(page.Count("nicmon_port_physical_state"), 8U);
  EXPECT_EQ(page.Count("nicmon_port_speed_source"), 5U);
  const auto is = [&](const std::string& series) { return page.Get(series) == "1"; };
  EXPECT_TRUE(is("nicmon_port_state" + WithLabel("state=\"active_defer\"")));
  EXPECT_FALSE(is("nicmon_port_state" + WithLabel("state=\"active\"")));
  EXPECT_TRUE(is("nicmon_port_physical_state" + WithLabel("state=\"unknown\"")));
  EXPECT_FALSE(is("nicmon_port_physical_state" + WithLabel("state=\"link_up\"")));
  EXPECT_TRUE(is("nicmon_port_speed_source" + WithLabel("source=\"encoded\"")));
  EXPECT_FALSE(is("nicmon_port_speed_source" + WithLabel("source=\"verb\"")));
  EXPECT_EQ(Page({device}).Count("nicmon_port_state"), 0U);
}

TEST(Families, EventsOfOwnObjectsAppearWithTheFirst) {
  DeviceSpec device("mlx5_0");
  EXPECT_EQ(Page({device}).Count("nicmon_device_events_total"), 3U);
  device.data.events[4] = 6;
  device.data.events[8] = 1;
  device.data.events[9] = 99;  // port-scoped: never counted here, and never shown
  device.data.events_other = 2;
  const Page page({device});
  const std::string prefix = "nicmon_device_events_total{device=\"mlx5_0\",event=\"";
  EXPECT_EQ(page.Count("nicmon_device_events_total"), 4U);
  EXPECT_THAT(page.Get(prefix + "comm_est\"}"), Optional(std::string("6")));
  EXPECT_THAT(page.Get(prefix + "device_fatal\"}"), Optional(std::string("1")));
  EXPECT_THAT(page.Get(prefix + "other\"}"), Optional(std::string("2")));
  EXPECT_EQ(Page({device}, MetricsProfile::kMinimal).Count("nicmon_device_events_total"), 3U);
}

TEST(Families, OneDevicePerNameAndThePresentOneWins) {
  DeviceSpec gone("mlx5_0");
  gone.data.status = DeviceStatus::kAbsent;
  gone.ports[0].up = false;
  const DeviceSpec present("mlx5_0");
  for (const auto& devices :
       {std::vector{gone, present}, std::vector{present, gone}, std::vector{present, present}}) {
    const Page page(devices);
    EXPECT_FALSE(page.has_duplicates());
    EXPECT_THAT(page.Get("nicmon_device_up{device=\"mlx5_0\"}"), Optional(std::string("1")));
    EXPECT_THAT(PortValue(page, "nicmon_port_up"), Optional(std::string("1")));
  }
}

TEST(Families, EveryPortOfEveryDeviceHasItsSeries) {
  const Page page({DeviceSpec("mlx4_0", 2), DeviceSpec("rocep3s0f0")});
  EXPECT_EQ(page.Count("nicmon_port_up"), 3U);
  EXPECT_EQ(page.Count("nicmon_device_up"), 2U);
  EXPECT_NE(page.Get("nicmon_port_up{device=\"mlx4_0\",port=\"2\"}"), kAbsent);
  EXPECT_NE(page.Get("nicmon_port_up{device=\"rocep3s0f0\",port=\"1\"}"), kAbsent);
}

}  // namespace
}  // namespace nicmon
