#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "metrics/page.h"
#include "nicmon/metrics/table.h"
#include "nicmon/monitor/stats.h"

namespace nicmon {
namespace {

using test::DeviceSpec;
using test::FullestDevice;
using test::Page;

MetricsInput SampleInput(MetricsProfile profile) {
  DeviceSpec odd("od\"d\\\n\xFF");
  odd.data.identity.board_id = "Größe \"4\"";
  MetricsInput input =
      Page::InputOf({FullestDevice("mlx5_0"), DeviceSpec("mlx5_1", 2), odd}, profile);
  const NodeStats stats;
  input.event_publish = stats.event_publish_seconds.Collect();
  input.drain_events = stats.drain_events_per_wakeup.Collect();
  input.port_query = stats.port_query_seconds.Collect();
  input.http.request_duration = prometheus::Histogram({0.1, 1}).Collect();
  input.http.requests[200] = 1;
  input.http.rejected["too_many"] = 0;
  input.http.admin_actions[{"pause", "ok"}] = 1;
  input.view.expected_ports = 2;
  input.config_reload_ok = true;
  input.process = ReadProcess();
  return input;
}

class Promtool : public ::testing::TestWithParam<MetricsProfile> {};

TEST_P(Promtool, FindsNothing) {
  const bool ci = std::getenv("CI") != nullptr && std::string(std::getenv("CI")) == "true";
  if (std::system("command -v promtool > /dev/null") != 0) {
    ASSERT_FALSE(ci) << "promtool is missing";
    GTEST_SKIP() << "promtool is missing (Debian package prometheus)";
  }
  const auto directory = std::filesystem::path(::testing::TempDir());
  const auto name = "nicmon_page_" + std::to_string(static_cast<int>(GetParam())) + "_" +
                    std::to_string(::getpid());
  const auto page = directory / name, report = directory / (name + ".report");
  std::ofstream(page, std::ios::binary) << Page(SampleInput(GetParam())).text();
  const int status = std::system(
      ("promtool check metrics < " + page.string() + " > " + report.string() + " 2>&1").c_str());
  std::stringstream found;
  found << std::ifstream(report).rdbuf();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(found.str(), "");
  std::filesystem::remove(page);
  std::filesystem::remove(report);
}

INSTANTIATE_TEST_SUITE_P(Profiles, Promtool,
                         ::testing::Values(MetricsProfile::kMinimal, MetricsProfile::kStandard,
                                           MetricsProfile::kFull));

// A table that promtool is happy with because rows are missing would prove nothing.
TEST(SamplePage, HasEveryRow) {
  const Page page(SampleInput(MetricsProfile::kFull));
  for (const MetricRow& row : MetricTable()) {
    const std::string name(row.name);
    const bool histogram = row.type == prometheus::MetricType::Histogram;
    EXPECT_GT(page.Count(histogram ? name + "_count" : name), 0U) << name;
  }
  EXPECT_FALSE(page.has_duplicates());
}

TEST(SamplePage, IsTheSerializedFamilies) {
  for (const auto profile :
       {MetricsProfile::kMinimal, MetricsProfile::kStandard, MetricsProfile::kFull}) {
    const MetricsInput input = SampleInput(profile);
    EXPECT_EQ(RenderPage(input), ExpositionSerializer().Serialize(BuildFamilies(input)));
  }
}

}  // namespace
}  // namespace nicmon
