#pragma once

#include <prometheus/metric_family.h>
#include <prometheus/serializer.h>

#include <cstdint>
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
  uint64_t journal_dropped = 0;
  struct Process {
    std::optional<double> cpu_seconds, start_time_seconds;
    std::optional<uint64_t> resident_bytes, virtual_bytes, open_fds, max_fds;
  } process;
};

/// Reads /proc/self for the process_* metrics. What cannot be read is nullopt.
MetricsInput::Process ReadProcess();

/// All families in the order of the table (metrics/table.h), without empty ones. Values are
/// doubles, as in the library's data model: a count above 2^53 is rounded to the nearest double
/// here, and written exactly from then on.
///
/// Two devices of one name (an absent one whose name was given to another) would make series that
/// contradict each other: only the one that is present is shown.
std::vector<prometheus::MetricFamily> BuildFamilies(const MetricsInput& input);

/// The text format 0.0.4, exact: integral values below 2^63 with all digits, other values as the
/// shortest text that reads back the same, HELP and label values escaped, bytes that are not UTF-8
/// replaced by U+FFFD (one of them would cost Prometheus the whole page), families without metrics
/// left out.
class ExpositionSerializer : public prometheus::Serializer {
 public:
  std::string Serialize(const std::vector<prometheus::MetricFamily>& families) const override;
  void Serialize(std::ostream& out,
                 const std::vector<prometheus::MetricFamily>& families) const override;
};

/// The page: what ExpositionSerializer makes of BuildFamilies(), but written line by line, without
/// a metric object for each of its thousands of series.
std::string RenderPage(const MetricsInput& input);

}  // namespace nicmon
