#include <gtest/gtest.h>

#include <algorithm>
#include <iomanip>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "metrics/documents.h"
#include "metrics/page.h"
#include "nicmon/monitor/stats.h"

namespace nicmon {
namespace {

using test::Page;

/// What every node has of itself.
MetricsInput NodeWithoutDevices(MetricsProfile profile) {
  MetricsInput input = Page::InputOf({}, profile);
  input.version = input.revision = input.libibverbs_version = "1";
  input.process = {1, 1, 1, 1, 1, 1};
  const NodeStats stats;
  input.event_publish = stats.event_publish_seconds.Collect();
  input.drain_events = stats.drain_events_per_wakeup.Collect();
  input.port_query = stats.port_query_seconds.Collect();
  input.http = HttpStats().Read();  // its reasons and buckets
  return input;
}

/// A node that nobody but Prometheus asks.
MetricsInput HealthyNode(MetricsProfile profile) {
  MetricsInput input = NodeWithoutDevices(profile);
  input.http.requests[200] = 1;
  return input;
}

size_t HealthyPort(MetricsProfile profile) {
  return Page({test::DeviceWithCounters("a")}, profile).size() - Page({}, profile).size();
}

/// A node that has every series, and whose clients did their best to make more of them.
MetricsInput FullestNode(MetricsProfile profile, size_t devices) {
  std::vector<test::DeviceSpec> specs;
  for (size_t i = 0; i < devices; ++i) {
    specs.push_back(test::FullestDevice("mlx5_" + std::to_string(i)));
  }
  MetricsInput input = NodeWithoutDevices(profile);
  input.view = test::View(specs);
  input.view.expected_ports = 8;
  input.config_reload_ok = true;
  for (int code = 200; code < 240; ++code) {
    input.http.requests[code] = 1;
  }
  for (int i = 0; i < 20; ++i) {
    for (const char* result : {"ok", "error", "denied"}) {
      input.http.admin_actions[{"action" + std::to_string(i), result}] = 1;
    }
  }
  return input;
}

struct Budget {
  size_t per_node;
  size_t per_port;  // of a device with one port, the device's own series included
};

Budget Measure(MetricsProfile profile) {
  const size_t none = Page(FullestNode(profile, 0)).size();
  const size_t one = Page(FullestNode(profile, 1)).size();
  const size_t four = Page(FullestNode(profile, 4)).size();
  EXPECT_EQ(four - none, 4 * (one - none)) << "series per device must not depend on the others";
  return {none, one - none};
}

// The numbers are in docs/metrics.md.
TEST(Budget, Minimal) {
  const Budget budget = Measure(MetricsProfile::kMinimal);
  EXPECT_LE(budget.per_node, 40U);
  EXPECT_LE(budget.per_port, 35U);
}

TEST(Budget, Standard) {
  const Budget budget = Measure(MetricsProfile::kStandard);
  EXPECT_LE(budget.per_node, 120U);
  EXPECT_LE(budget.per_port, 120U);
}

TEST(Budget, Full) {
  const Budget budget = Measure(MetricsProfile::kFull);
  EXPECT_LE(budget.per_node, 120U);
  EXPECT_LE(budget.per_port, 290U);
}

// What docs/metrics.md says of a healthy port and of the fullest one.
TEST(Budget, AsDocumented) {
  EXPECT_EQ(HealthyPort(MetricsProfile::kMinimal), 26U);
  EXPECT_EQ(HealthyPort(MetricsProfile::kStandard), 97U);
  EXPECT_EQ(HealthyPort(MetricsProfile::kFull), 135U);
  EXPECT_EQ(Measure(MetricsProfile::kMinimal).per_port, 28U);
  EXPECT_EQ(Measure(MetricsProfile::kStandard).per_port, 119U);
  EXPECT_EQ(Measure(MetricsProfile::kFull).per_port, 286U);
  EXPECT_EQ(Measure(MetricsProfile::kMinimal).per_node, 8U);
  EXPECT_EQ(Measure(MetricsProfile::kFull).per_node, 119U);
}

std::string Thousands(size_t number) {
  std::string text = std::to_string(number);
  for (size_t at = text.size(); at > 3; at -= 3) {
    text.insert(at - 3, ",");
  }
  return text;
}

/// "| standard | 16 × 97 + 70 = 1,622 | 8.1 million |", cell by cell.
std::vector<std::string> Arithmetic(const std::string& name, size_t per_port, size_t per_node) {
  const size_t node = 16 * per_port + per_node;
  std::ostringstream sum, all;
  sum << "16 × " << per_port << " + " << per_node << " = " << Thousands(node);
  all << std::fixed << std::setprecision(1) << static_cast<double>(node) * 5000 / 1e6 << " million";
  return {name, sum.str(), all.str()};
}

TEST(Budget, ArithmeticOfTheDocs) {
  const auto rows = test::DocumentedRows();
  const auto documented = [&](const std::vector<std::string>& row) {
    EXPECT_NE(std::find(rows.begin(), rows.end(), row), rows.end())
        << ::testing::PrintToString(row);
  };
  documented({"minimal", std::to_string(HealthyPort(MetricsProfile::kMinimal)), "35", "40"});
  documented({"standard", std::to_string(HealthyPort(MetricsProfile::kStandard)), "120", "120"});
  documented({"full", std::to_string(HealthyPort(MetricsProfile::kFull)), "290", "120"});
  const std::map<std::string, MetricsProfile> profiles = {{"minimal", MetricsProfile::kMinimal},
                                                          {"standard", MetricsProfile::kStandard},
                                                          {"full", MetricsProfile::kFull}};
  for (const auto& [name, profile] : profiles) {
    documented(Arithmetic(name, HealthyPort(profile), Page(HealthyNode(profile)).size()));
  }
  documented(Arithmetic("standard, at its limit", 120, 120));
}

}  // namespace
}  // namespace nicmon
