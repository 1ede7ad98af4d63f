#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/serializer.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "nicmon/config/config.h"
#include "nicmon/http/http_stats.h"
#include "nicmon/monitor/stats.h"
#include "nicmon/monitor/view.h"

namespace nicmon {

/// Everything /metrics shows, gathered beforehand: building families is pure.
struct MetricsInput {
  NodeView view;
  MetricsProfile profile = MetricsProfile::kStandard;
  std::string version, revision, libibverbs_version;
  bool simulated = false;
  std::optional<bool> config_reload_ok;
  prometheus::ClientMetric event_publish, drain_events, port_query;  // NodeStats, collected
  HttpStats::Snapshot http;
  uint64_t log_suppressed = 0;
  struct Process {
    std::optional<double> cpu_seconds, start_time_seconds;
    std::optional<uint64_t> resident_bytes, virtual_bytes, open_fds, max_fds, threads;
  } process;
};

/// Reads /proc/self for the process_* metrics.
MetricsInput::Process ReadProcess();

/// All families in the order of the table, without empty ones.
std::vector<prometheus::MetricFamily> BuildFamilies(const MetricsInput& input);

/// The text format 0.0.4, exact: integers below 2^63 in full, other values as the shortest text
/// that reads back the same, HELP and label values escaped, families without metrics left out.
class ExpositionSerializer : public prometheus::Serializer {
 public:
  std::string Serialize(const std::vector<prometheus::MetricFamily>& families) const override;
  void Serialize(std::ostream& out,
                 const std::vector<prometheus::MetricFamily>& families) const override;
};

}  // namespace nicmon
