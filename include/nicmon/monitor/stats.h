#pragma once

#include <prometheus/histogram.h>

namespace nicmon {

/// Histograms of the whole node, shared by all device threads (thread-safe).
struct NodeStats {
  NodeStats();
  prometheus::Histogram event_publish_seconds;  // wake-up to published
  prometheus::Histogram drain_events_per_wakeup;
  prometheus::Histogram port_query_seconds;
};

}  // namespace nicmon
