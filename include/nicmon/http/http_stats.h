#pragma once

#include <prometheus/histogram.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace nicmon {

/// What the HTTP server counts about itself. Thread-safe.
class HttpStats {
 public:
  struct Snapshot {
    std::map<int, uint64_t> requests;          // by status code
    std::map<std::string, uint64_t> rejected;  // by reason; all known reasons from start at 0
    std::map<std::pair<std::string, std::string>, uint64_t> admin_actions;  // (action, result)
    int connections = 0;
    int stream_clients = 0;
    prometheus::ClientMetric request_duration;
  };

  HttpStats();
  void Request(int code, double seconds);
  void Rejected(const std::string& reason);
  void AdminAction(const std::string& action, const std::string& result);
  void ConnectionOpened();
  void ConnectionClosed();
  void StreamClients(int count);
  Snapshot Read() const;

 private:
  mutable std::mutex mutex_;  // guards counts_
  Snapshot counts_;
  prometheus::Histogram request_duration_;
};

}  // namespace nicmon
