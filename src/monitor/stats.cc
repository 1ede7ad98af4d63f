#include "nicmon/monitor/stats.h"

namespace nicmon {

// Every bound is a series of every node. They are close together where a healthy node is expected
// to be, and reach as far as a sick one may go: a firmware command can sleep for a minute, and an
// undrained queue is only limited by memory.
NodeStats::NodeStats()
    : event_publish_seconds({1e-6, 1e-5, 5e-5, 2.5e-4, 1e-3, 1e-2, 0.1, 1}),
      drain_events_per_wakeup({1, 10, 100, 1e3, 1e4, 1e5, 1e6}),
      port_query_seconds({1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1, 10, 60}) {}

}  // namespace nicmon
