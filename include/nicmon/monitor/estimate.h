#pragma once

#include <optional>

namespace nicmon {

/// A port's free bandwidth in bytes per second: an exponentially weighted moving average, seeded
/// with the port's capacity. While the port is not available nobody samples it, so what was learned
/// stays as it was.
class BandwidthEstimate {
 public:
  /// Sets the capacity. Starts anew only when it differs: a flap at the same speed keeps the value.
  void Seed(double capacity);

  /// One second's (or tick's) measured load, the larger of receive and transmit.
  void Sample(double load);

  std::optional<double> value() const { return value_; }

 private:
  std::optional<double> capacity_;
  std::optional<double> value_;  // in [0, capacity]
};

}  // namespace nicmon
