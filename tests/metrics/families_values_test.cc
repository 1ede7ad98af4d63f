#include <gmock/gmock.h>

#include <map>

#include "metrics/page.h"

// What each series says.
namespace nicmon {
namespace {

using test::DeviceSpec;
using test::kAbsent;
using test::kPort;
using test::Page;
using test::PortValue;
using test::WithLabel;
using ::testing::Optional;

TEST(Families, ShowEverythingThatIsKnown) {
  DeviceSpec device = test::FullestDevice("mlx5_0");
  device.data.status = DeviceStatus::kOpen;
  MetricsInput input = Page::InputOf({device}, MetricsProfile::kFull);
  input.view.expected_ports = 2;
  input.config_reload_ok = false;
  input.process = {1.5, 1769860800.25, 10, 20, 7, 1024};
  const Page page(input);
  const std::map<std::string, std::string> expected = {
      {"nicmon_port_state_id" + kPort, "4"},
      {"nicmon_port_physical_state_id" + kPort, "5"},
      {"nicmon_port_effective_speed_bytes_per_second" + kPort, "50000000000"},
      {"nicmon_port_expected_speed_bytes_per_second" + kPort, "50000000000"},
      {"nicmon_port_baseline_speed_bytes_per_second" + kPort, "50000000000"},
      {"nicmon_port_nominal_speed_bytes_per_second" + kPort, "50000000000"},
      {"nicmon_port_bandwidth_estimate_bytes_per_second" + kPort, "50000000000"},
      {"nicmon_port_link_width_lanes" + kPort, "4"},
      {"nicmon_port_mtu_bytes" + kPort, "4096"},
      {"nicmon_port_lid" + kPort, "17"},
      {"nicmon_port_sm_lid" + kPort, "1"},
      {"nicmon_port_state_last_change_timestamp_seconds" + kPort, "1769860795"},
      {"nicmon_port_hold_since_timestamp_seconds" + kPort, "1769860740"},
      {"nicmon_port_hold_until_timestamp_seconds" + kPort, "1769864400"},
      {"nicmon_port_info" + WithLabel("link_layer=\"Ethernet\",netdev=\"eth2\""), "1"},
      {"nicmon_port_gid_info" +
           WithLabel("index=\"3\",gid=\"fe80:0000:0000:0000:0000:0000:0000:0000\","
                     "type=\"RoCE v2\""),
       "1"},
      {"nicmon_device_info{device=\"mlx5_0\",node_guid=\"0c42:a103:0065:4ba2\","
       "sys_image_guid=\"0c42:a103:0065:4ba2\",board_id=\"MT_0000000838\",hca_type=\"MT4129\","
       "firmware_version=\"28.39.1002\",driver=\"mlx5_core\",pci_address=\"0000:3b:00.0\","
       "numa_node=\"1\",function=\"pf\"}",
       "1"},
      {"nicmon_snapshot_age_seconds{device=\"mlx5_0\"}", "0.25"},
      {"nicmon_ports_expected", "2"},
      {"nicmon_ports_held", "1"},
      {"nicmon_holds_durable", "0"},
      {"nicmon_holds_lost", "0"},
      {"nicmon_holds_orphaned", "0"},
      {"nicmon_config_reload_success", "0"},
      {"process_cpu_seconds_total", "1.5"},
      {"process_start_time_seconds", "1769860800.25"},
      {"process_resident_memory_bytes", "10"},
      {"process_virtual_memory_bytes", "20"},
      {"process_open_fds", "7"},
      {"process_max_fds", "1024"},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_THAT(page.Get(series), Optional(value)) << series;
  }
}

TEST(Families, EachCountHasItsOwnSeries) {
  DeviceSpec device("mlx5_0");
  PortCounts& counts = device.data.ports[0].counts;
  counts.link_pauses = 1;
  device.ports[0].admin_pauses = 2;
  counts.flaps = 3;
  counts.recovered_by_event = 4;
  counts.recovered_by_tick = 5;
  counts.recovered_by_admin = 6;
  counts.to_active = 7;
  counts.to_down = 8;
  counts.to_other = 9;
  counts.missed_events = 10;
  counts.spurious_events = 11;
  counts.queries_ok = 12;
  counts.queries_failed = 13;
  counts.speed_changes = 14;
  counts.gid_changes = 15;
  counts.lid_changes = 16;
  counts.events = {17, 18, 19, 20, 21, 22, 23};
  counts.down = std::chrono::milliseconds(24500);
  const Page page({device});
  const std::map<std::string, std::string> expected = {
      {"nicmon_port_pauses_total" + WithLabel("reason=\"link\""), "1"},
      {"nicmon_port_pauses_total" + WithLabel("reason=\"admin\""), "2"},
      {"nicmon_port_flaps_total" + kPort, "3"},
      {"nicmon_port_recoveries_total" + WithLabel("source=\"event\""), "4"},
      {"nicmon_port_recoveries_total" + WithLabel("source=\"tick\""), "5"},
      {"nicmon_port_recoveries_total" + WithLabel("source=\"admin\""), "6"},
      {"nicmon_port_transitions_total" + WithLabel("to=\"active\""), "7"},
      {"nicmon_port_transitions_total" + WithLabel("to=\"down\""), "8"},
      {"nicmon_port_transitions_total" + WithLabel("to=\"other\""), "9"},
      {"nicmon_reconcile_mismatches_total" + WithLabel("kind=\"missed_event\""), "10"},
      {"nicmon_reconcile_mismatches_total" + WithLabel("kind=\"spurious_event\""), "11"},
      {"nicmon_port_queries_total" + WithLabel("result=\"ok\""), "12"},
      {"nicmon_port_queries_total" + WithLabel("result=\"error\""), "13"},
      {"nicmon_port_speed_changes_total" + kPort, "14"},
      {"nicmon_port_gid_changes_total" + kPort, "15"},
      {"nicmon_port_lid_changes_total" + kPort, "16"},
      {"nicmon_port_events_total" + WithLabel("event=\"port_active\""), "17"},
      {"nicmon_port_events_total" + WithLabel("event=\"port_err\""), "18"},
      {"nicmon_port_events_total" + WithLabel("event=\"lid_change\""), "19"},
      {"nicmon_port_events_total" + WithLabel("event=\"pkey_change\""), "20"},
      {"nicmon_port_events_total" + WithLabel("event=\"sm_change\""), "21"},
      {"nicmon_port_events_total" + WithLabel("event=\"client_reregister\""), "22"},
      {"nicmon_port_events_total" + WithLabel("event=\"gid_change\""), "23"},
      {"nicmon_port_down_seconds_total" + kPort, "24.5"},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_THAT(page.Get(series), Optional(value)) << series;
  }
}

TEST(Families, NodeCountsAndHttp) {
  DeviceSpec down("mlx5_1");
  down.ports[0].up = down.ports[0].serving = false;
  DeviceSpec settling("mlx5_2");
  settling.ports[0].serving = false;
  MetricsInput input =
      Page::InputOf({DeviceSpec("mlx5_0"), down, settling}, MetricsProfile::kStandard);
  input.simulated = true;
  input.config_reload_ok = true;
  input.log_suppressed = 5;
  input.journal_dropped = 6;
  input.version = "1.2.3";
  input.libibverbs_version = "44.0";
  input.http.requests = {{200, 7}, {404, 1}};
  input.http.rejected = {{"too_many", 0}};
  input.http.admin_actions = {{{"pause", "ok"}, 2}};
  input.http.connections = 3;
  input.http.stream_clients = 4;
  const Page page(input);
  const std::map<std::string, std::string> expected = {
      {"nicmon_build_info{version=\"1.2.3\",libibverbs=\"44.0\"}", "1"},
      {"nicmon_node_info{nodename=\"node1\"}", "1"},
      {"nicmon_simulated", "1"},
      {"nicmon_devices", "3"},
      {"nicmon_ports", "3"},
      {"nicmon_ports_up", "2"},
      {"nicmon_ports_serving", "1"},
      {"nicmon_ports_held", "0"},
      {"nicmon_config_reload_success", "1"},
      {"nicmon_http_requests_total{code=\"200\"}", "7"},
      {"nicmon_http_requests_total{code=\"404\"}", "1"},
      {"nicmon_http_rejected_total{reason=\"too_many\"}", "0"},
      {"nicmon_http_connections", "3"},
      {"nicmon_admin_actions_total{action=\"pause\",result=\"ok\"}", "2"},
      {"nicmon_log_suppressed_total", "5"},
      {"nicmon_journal_dropped_total", "6"},
      {"nicmon_stream_clients", "4"},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_THAT(page.Get(series), Optional(value)) << series;
  }
}

TEST(Families, WhatClientsCanMultiplyIsSummedUp) {
  MetricsInput input = Page::InputOf({}, MetricsProfile::kStandard);
  for (int code = 200; code < 220; ++code) {
    input.http.requests[code] = 2;
  }
  for (char action = 'a'; action <= 'm'; ++action) {
    input.http.admin_actions[{std::string(1, action), "denied"}] = 3;
    input.http.admin_actions[{std::string(1, action), "ok"}] = 1;
  }
  const Page page(input);
  EXPECT_EQ(page.Count("nicmon_http_requests_total"), 17U);
  EXPECT_THAT(page.Get("nicmon_http_requests_total{code=\"215\"}"), Optional(std::string("2")));
  EXPECT_THAT(page.Get("nicmon_http_requests_total{code=\"other\"}"), Optional(std::string("8")));
  EXPECT_EQ(page.Count("nicmon_admin_actions_total"), 26U);
  const auto actions = [&](const std::string& action, const std::string& result) {
    return page.Get("nicmon_admin_actions_total{action=\"" + action + "\",result=\"" + result +
                    "\"}");
  };
  EXPECT_THAT(actions("l", "ok"), Optional(std::string("1")));
  EXPECT_EQ(actions("m", "ok"), kAbsent);
  EXPECT_THAT(actions("other", "ok"), Optional(std::string("1")));
  EXPECT_THAT(actions("other", "denied"), Optional(std::string("3")));
}

TEST(Families, SpeedsAreExactBytes) {
  DeviceSpec device("mlx5_0");
  const auto speed = [&](uint64_t bps) {
    device.data.ports[0].effective_speed_bps = bps;
    return PortValue(Page({device}), "nicmon_port_effective_speed_bytes_per_second");
  };
  EXPECT_THAT(speed(2'500'000'000), Optional(std::string("312500000")));
  EXPECT_THAT(speed(1'600'000'000'000), Optional(std::string("200000000000")));
  EXPECT_THAT(speed(9), Optional(std::string("1.125")));
}

TEST(Families, HoldWithoutEndHasNoUntil) {
  const Hold hold = {"h1", {1, 1}, "mlx5_0", "", "", test::At(0.125), std::nullopt};
  DeviceSpec device("mlx5_0");
  device.ports[0].hold = &hold;
  const Page page({device});
  EXPECT_THAT(PortValue(page, "nicmon_port_hold_since_timestamp_seconds"),
              Optional(std::string("1769860800.125")));
  EXPECT_EQ(PortValue(page, "nicmon_port_hold_until_timestamp_seconds"), kAbsent);
}

TEST(Families, FunctionAndUnknownAttributes) {
  DeviceSpec device("mlx5_0");
  device.data.identity = Identity{};
  device.data.identity.function = DeviceFunction::kVirtual;
  EXPECT_THAT(Page({device}).Get("nicmon_device_info{device=\"mlx5_0\",function=\"vf\"}"),
              Optional(std::string("1")));
  device.data.identity.function = DeviceFunction::kSubfunction;
  device.data.identity.numa_node = 0;
  EXPECT_THAT(
      Page({device}).Get("nicmon_device_info{device=\"mlx5_0\",numa_node=\"0\",function=\"sf\"}"),
      Optional(std::string("1")));
}

}  // namespace
}  // namespace nicmon
