#include <gtest/gtest.h>

#include "metrics/page.h"
#include "nicmon/monitor/stats.h"

namespace nicmon {
namespace {

using test::Page;

/// A node that has every series, and whose clients did their best to make more of them.
MetricsInput FullestNode(MetricsProfile profile, size_t devices) {
  std::vector<test::DeviceSpec> specs;
  for (size_t i = 0; i < devices; ++i) {
    specs.push_back(test::FullestDevice("mlx5_" + std::to_string(i)));
  }
  MetricsInput input = Page::InputOf(specs, profile);
  input.version = input.revision = input.libibverbs_version = "1";
  input.view.expected_ports = 8;
  input.config_reload_ok = true;
  input.process = {1, 1, 1, 1, 1, 1};
  const NodeStats stats;
  input.event_publish = stats.event_publish_seconds.Collect();
  input.drain_events = stats.drain_events_per_wakeup.Collect();
  input.port_query = stats.port_query_seconds.Collect();
  input.http = HttpStats().Read();  // its reasons and buckets
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
  EXPECT_LE(budget.per_port, 100U);
}

// The series of a healthy port and node as docs/metrics.md gives them.
TEST(Budget, HealthyNode) {
  const auto per_port = [](MetricsProfile profile) {
    return Page({test::DeviceSpec("a")}, profile).size() - Page({}, profile).size();
  };
  EXPECT_EQ(per_port(MetricsProfile::kMinimal), 26U);
  EXPECT_EQ(per_port(MetricsProfile::kStandard), 51U);
  EXPECT_EQ(per_port(MetricsProfile::kFull), 71U);
}

}  // namespace
}  // namespace nicmon
