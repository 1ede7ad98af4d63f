#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "nicmon/app/hardware.h"
#include "nicmon/app/watchdog.h"
#include "nicmon/base/clock.h"
#include "nicmon/base/state_directory.h"
#include "nicmon/config/config.h"
#include "nicmon/history/journal.h"
#include "nicmon/http/server.h"
#include "nicmon/monitor/holds.h"
#include "nicmon/monitor/holds_writer.h"
#include "nicmon/monitor/node_monitor.h"
#include "nicmon/monitor/view.h"

namespace nicmon {

/// The whole program between its configuration and its signals: hardware, monitor, holds and HTTP
/// server, put together. Driven by one thread; what it gives to the server is thread-safe.
class Node {
 public:
  /// Binds the listeners; throws std::runtime_error, one line, when something is in the way.
  explicit Node(const Config& config);

  void Start();
  /// Once a second: the watchdog's turn, and the sign of life that /healthz is about. Returns the
  /// node in one line, "7 of 8 ports serving".
  std::string Second();
  void Reload();
  /// Closes the listeners first, then waits for threads, in all less than a second and a half.
  void Stop();

 private:
  NodeView View() const;
  std::string Metrics();
  Backend MakeBackend();
  std::unique_ptr<HttpServer> MakeServer(const Config& config);

  const Clock clock_ = Clock::Real();
  const ViewOptions view_options_;
  const MetricsProfile profile_;
  const bool reloads_files_;
  const Hardware hardware_;
  const std::shared_ptr<const StateDirectory> state_;  // nullptr: nothing outlives the process
  const std::shared_ptr<Holds> holds_;
  Journal journal_;
  HoldsWriter holds_writer_;
  NodeMonitor monitor_;
  const std::shared_ptr<HttpStats> http_stats_;
  Watchdog watchdog_;
  std::atomic<int64_t> last_second_;  // clock_.steady() in ns
  const std::unique_ptr<HttpServer> http_;
};

}  // namespace nicmon
