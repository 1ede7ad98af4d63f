#include "nicmon/http/http_stats.h"

namespace nicmon {
namespace {

// Seconds. Reads take less than a millisecond; a requery may wait for the hardware for 5 s.
const prometheus::Histogram::BucketBoundaries kBuckets = {0.0005, 0.001, 0.0025, 0.01,
                                                          0.05,   0.25,  5};
constexpr const char* kReasons[] = {"connection_limit", "cross_site",  "forbidden", "foreign_host",
                                    "malformed",        "rate_limit",  "timeout",   "tls",
                                    "too_large",        "unauthorized"};

}  // namespace

HttpStats::HttpStats() : request_duration_(kBuckets) {
  for (const char* reason : kReasons) {
    counts_.rejected[reason] = 0;
  }
}

void HttpStats::Request(int code, double seconds) {
  request_duration_.Observe(seconds);
  std::lock_guard lock(mutex_);
  ++counts_.requests[code];
}

void HttpStats::Rejected(const std::string& reason) {
  std::lock_guard lock(mutex_);
  ++counts_.rejected[reason];
}

void HttpStats::AdminAction(const std::string& action, const std::string& result) {
  std::lock_guard lock(mutex_);
  ++counts_.admin_actions[{action, result}];
}

void HttpStats::ConnectionOpened() {
  std::lock_guard lock(mutex_);
  ++counts_.connections;
}

void HttpStats::ConnectionClosed() {
  std::lock_guard lock(mutex_);
  --counts_.connections;
}

void HttpStats::StreamClients(int count) {
  std::lock_guard lock(mutex_);
  counts_.stream_clients = count;
}

HttpStats::Snapshot HttpStats::Read() const {
  Snapshot snapshot;
  {
    std::lock_guard lock(mutex_);
    snapshot = counts_;
  }
  snapshot.request_duration = request_duration_.Collect();
  return snapshot;
}

}  // namespace nicmon
