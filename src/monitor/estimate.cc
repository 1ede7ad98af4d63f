#include "nicmon/monitor/estimate.h"

#include <algorithm>

namespace nicmon {
namespace {

/// Weight of the newest sample: about five ticks of memory, enough to ride out a burst.
constexpr double kWeight = 0.2;

}  // namespace

void BandwidthEstimate::Seed(double capacity) {
  if (capacity_ != capacity) {
    capacity_ = capacity;
    value_ = capacity;
  }
}

void BandwidthEstimate::Sample(double load) {
  if (capacity_) {
    const double available = std::clamp(*capacity_ - load, 0.0, *capacity_);
    value_ = *value_ + kWeight * (available - *value_);
  }
}

}  // namespace nicmon
