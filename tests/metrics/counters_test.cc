#include <gmock/gmock.h>

#include <algorithm>
#include <limits>

#include "metrics/page.h"
#include "nicmon/metrics/table.h"

namespace nicmon {
namespace {

using test::DeviceSpec;
using test::kAbsent;
using test::kPort;
using test::Page;
using test::StatsSpec;
using ::testing::Optional;

Page PageOf(const StatsSpec& stats, MetricsProfile profile = MetricsProfile::kStandard) {
  DeviceSpec device("mlx5_0");
  device.data.ports[0].stats = stats.Build();
  return Page({device}, profile);
}

TEST(CounterFamilies, OnePerMetricWhateverItsSources) {
  for (const CounterRow& counter : CounterTable()) {
    const auto count =
        std::count_if(MetricTable().begin(), MetricTable().end(),
                      [&](const MetricRow& row) { return row.name == counter.metric; });
    EXPECT_EQ(count, 1) << counter.metric;
  }
}

TEST(CounterFamilies, RowsOfOneMetricAgree) {
  for (const MetricRow& row : MetricTable()) {
    for (const CounterRow& counter : CounterTable()) {
      if (row.name == counter.metric) {
        EXPECT_EQ(row.help, counter.help) << counter.file;
        EXPECT_EQ(row.profile == MetricsProfile::kFull, counter.traits.full) << counter.file;
      }
    }
  }
}

TEST(CounterFamilies, EachSourceBecomesItsMetricTimesItsScale) {
  uint64_t value = 1000;
  for (const CounterRow& counter : CounterTable()) {
    StatsSpec stats;
    stats.Add(counter, ++value);
    const Page page = PageOf(stats, MetricsProfile::kFull);
    EXPECT_THAT(page.Get(std::string(counter.metric) + kPort),
                Optional(std::to_string(value * counter.traits.scale)))
        << counter.file;
  }
}

TEST(CounterFamilies, StandAtTheirOwnMetricAmongAllOthers) {
  const StatsSpec stats = StatsSpec::All();
  const Page page = PageOf(stats, MetricsProfile::kFull);
  const auto sample = stats.Build();
  const auto& files = sample.layout().files;
  ASSERT_EQ(files.size(), CounterMetricCount());
  for (size_t i = 0; i < files.size(); ++i) {
    const CounterRow& counter = *files[i].row;
    EXPECT_THAT(page.Get(std::string(counter.metric) + kPort),
                Optional(std::to_string(*sample.value(i) * counter.traits.scale)));
  }
}

TEST(CounterFamilies, WhatAPortDoesNotHaveOrSayIsAbsent) {
  StatsSpec stats;
  stats.Add("link_downed", 0).Add("symbol_error", std::nullopt);
  const Page page = PageOf(stats);
  EXPECT_THAT(page.Get("nicmon_port_link_downed_total" + kPort), Optional(std::string("0")));
  EXPECT_EQ(page.Get("nicmon_port_symbol_error_total" + kPort), kAbsent);
  EXPECT_EQ(page.Get("nicmon_port_transmit_wait_total" + kPort), kAbsent);
  EXPECT_EQ(Page({DeviceSpec("mlx5_0")}).Count("nicmon_port_link_downed_total"), 0U);
}

TEST(CounterFamilies, OfEveryPort) {
  DeviceSpec two("mlx4_0", 2);
  two.data.ports[1].stats = StatsSpec().Add("link_downed", 2).Build();
  DeviceSpec other("mlx5_0");
  other.data.ports[0].stats = StatsSpec().Add("symbol_error", 9).Add("link_downed", 3).Build();
  const Page page({two, other});
  EXPECT_EQ(page.Count("nicmon_port_link_downed_total"), 2U);
  EXPECT_THAT(page.Get("nicmon_port_link_downed_total{device=\"mlx4_0\",port=\"2\"}"),
              Optional(std::string("2")));
  EXPECT_THAT(page.Get("nicmon_port_link_downed_total" + kPort), Optional(std::string("3")));
}

TEST(CounterFamilies, FullOnesAreInTheFullProfileOnlyAndNoneInMinimal) {
  const StatsSpec stats = StatsSpec::All();
  for (const CounterRow& counter : CounterTable()) {
    const std::string name(counter.metric);
    EXPECT_EQ(PageOf(stats, MetricsProfile::kMinimal).Count(name), 0U) << name;
    EXPECT_EQ(PageOf(stats).Count(name), counter.traits.full ? 0U : 1U) << name;
    EXPECT_EQ(PageOf(stats, MetricsProfile::kFull).Count(name), 1U) << name;
  }
}

// As docs/metrics.md says: exact to 2^53, then the nearest double, all of its digits printed below
// 2^63; the product with the scale never wraps.
TEST(CounterFamilies, BeyondWhatADoubleHolds) {
  const auto value = [](std::string_view file, uint64_t raw) {
    StatsSpec stats;
    stats.Add(file, raw);
    const Page page = PageOf(stats);
    return file == "port_rcv_data" ? page.Get("nicmon_port_data_received_bytes_total" + kPort)
                                   : page.Get("nicmon_port_packets_received_total" + kPort);
  };
  constexpr uint64_t kExact = uint64_t{1} << 53U;
  EXPECT_THAT(value("port_rcv_packets", kExact - 1), Optional(std::string("9007199254740991")));
  EXPECT_THAT(value("port_rcv_packets", kExact), Optional(std::string("9007199254740992")));
  EXPECT_THAT(value("port_rcv_packets", kExact + 1), Optional(std::string("9007199254740992")));
  EXPECT_THAT(value("port_rcv_packets", kExact + 3), Optional(std::string("9007199254740996")));
  // Words: exact as long as the words are.
  EXPECT_THAT(value("port_rcv_data", kExact - 1), Optional(std::string("36028797018963964")));
  EXPECT_THAT(value("port_rcv_data", (uint64_t{1} << 61U) - 1),
              Optional(std::string("9223372036854775808")));
  // 2^62 words are 2^64 bytes: 0 if they wrapped.
  EXPECT_THAT(value("port_rcv_data", uint64_t{1} << 62U),
              Optional(std::string("18446744073709551616")));
  EXPECT_THAT(value("port_rcv_data", std::numeric_limits<uint64_t>::max()),
              Optional(std::string("73786976294838206464")));
}

TEST(StatFamilies, TellOfTheSamples) {
  StatsSpec stats;
  stats.layout().hw_counters = false;
  stats.sample().saturated = 3;
  DeviceSpec device("mlx5_0");
  device.data.ports[0].stats = stats.Build();
  device.ports[0].stats_age = std::chrono::milliseconds(2500);
  device.data.ports[0].counts.stat_resets = 4;
  device.data.sysfs_read_errors = 5;
  const Page page({device});
  const std::map<std::string, std::string> expected = {
      {"nicmon_port_stats_available{device=\"mlx5_0\",port=\"1\",family=\"counters\"}", "1"},
      {"nicmon_port_stats_available{device=\"mlx5_0\",port=\"1\",family=\"hw_counters\"}", "0"},
      {"nicmon_port_stats_age_seconds" + kPort, "2.5"},
      {"nicmon_port_saturated_stats" + kPort, "3"},
      {"nicmon_port_stat_resets_total" + kPort, "4"},
      {"nicmon_sysfs_read_errors_total{device=\"mlx5_0\"}", "5"},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_THAT(page.Get(series), Optional(value)) << series;
  }
}

TEST(StatFamilies, BeforeTheFirstRoundOnlyOwnCountsExist) {
  const Page page({DeviceSpec("mlx5_0")}, MetricsProfile::kFull);
  EXPECT_THAT(page.Get("nicmon_port_stat_resets_total" + kPort), Optional(std::string("0")));
  EXPECT_THAT(page.Get("nicmon_sysfs_read_errors_total{device=\"mlx5_0\"}"),
              Optional(std::string("0")));
  for (const char* name :
       {"nicmon_port_stats_available", "nicmon_port_stats_age_seconds",
        "nicmon_port_saturated_stats", "nicmon_port_driver_stat", "nicmon_port_driver_stats_cut",
        "nicmon_device_driver_stat", "nicmon_device_driver_stats_cut"}) {
    EXPECT_EQ(page.Count(name), 0U) << name;
  }
}

TEST(StatFamilies, DriversOwnCountersAsTheirFilesHaveThem) {
  StatsSpec stats;
  stats.Add("port_rcv_data", 1)
      .Driver("SwLinkUp,32", 7)
      .Driver("cc \"x\"", 8)
      .Driver("na", kAbsent);
  stats.layout().cut = 2;
  DeviceSpec device("hfi1_0");
  device.data.ports[0].stats = stats.Build();
  // What has a row of a port is the device's own here.
  device.data.stats = StatsSpec().Driver("lifespan", 9).Add("rx_bytes", 10).Build();
  const Page page({device}, MetricsProfile::kFull);
  EXPECT_NE(page.text().find("# TYPE nicmon_port_driver_stat untyped\n"), std::string::npos);
  const std::map<std::string, std::string> expected = {
      {"nicmon_port_driver_stat{device=\"hfi1_0\",port=\"1\",stat=\"SwLinkUp,32\"}", "7"},
      {"nicmon_port_driver_stat{device=\"hfi1_0\",port=\"1\",stat=\"cc \\\"x\\\"\"}", "8"},
      {"nicmon_port_driver_stats_cut{device=\"hfi1_0\",port=\"1\"}", "2"},
      {"nicmon_device_driver_stat{device=\"hfi1_0\",stat=\"lifespan\"}", "9"},
      {"nicmon_device_driver_stat{device=\"hfi1_0\",stat=\"rx_bytes\"}", "10"},
      {"nicmon_device_driver_stats_cut{device=\"hfi1_0\"}", "0"},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_THAT(page.Get(series), Optional(value)) << series;
  }
  EXPECT_EQ(page.Count("nicmon_port_driver_stat"), 2U);
  EXPECT_EQ(page.Count("nicmon_device_driver_stat"), 2U);
  EXPECT_EQ(Page({device}).Count("nicmon_port_driver_stat"), 0U);
}

TEST(LinkFamilies, PcieAndNetdev) {
  DeviceSpec device("mlx5_0");
  device.data.pcie = {8e9, 32e9, 4, 16};
  device.data.ports[0].netdev = {11, 2, 1};
  const Page page({device});
  const std::string of_device = "{device=\"mlx5_0\"}";
  const std::map<std::string, std::string> expected = {
      {"nicmon_device_pcie_link_speed_transfers_per_second" + of_device, "8000000000"},
      {"nicmon_device_pcie_max_link_speed_transfers_per_second" + of_device, "32000000000"},
      {"nicmon_device_pcie_link_width" + of_device, "4"},
      {"nicmon_device_pcie_max_link_width" + of_device, "16"},
      {"nicmon_port_netdev_carrier_changes_total" + kPort, "11"},
      {"nicmon_port_bond_members" + kPort, "2"},
      {"nicmon_port_bond_members_up" + kPort, "1"},
  };
  for (const auto& [series, value] : expected) {
    EXPECT_THAT(page.Get(series), Optional(value)) << series;
    EXPECT_EQ(Page({DeviceSpec("mlx5_0")}).Get(series), kAbsent) << series;
  }
}

}  // namespace
}  // namespace nicmon
