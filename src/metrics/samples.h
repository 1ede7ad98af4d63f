#pragma once

#include <prometheus/metric_family.h>

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "nicmon/metrics/exposition.h"

namespace nicmon {

/// Collects one family's metrics. The labels of the device or port at hand are put in front of each
/// sample's own. Metrics that the family had before are overwritten, so that their memory is used
/// again; Finish() ends the rest.
class Samples {
 public:
  using Labels = std::vector<prometheus::ClientMetric::Label>;

  Samples(prometheus::MetricFamily& family, MetricsProfile profile)
      : family_(family), profile_(profile) {}

  MetricsProfile profile() const { return profile_; }

  /// `labels` must outlive the samples added under it.
  void Under(const Labels& labels) { common_ = &labels; }

  /// Makes room for as many subjects as the one seen so far.
  void ReserveFor(size_t subjects) { family_.metric.reserve(used_ * subjects); }

  void Add(double value) { Add({}, value); }
  template <typename T>
  void Add(const std::optional<T>& value) {
    if (value) {
      Add(static_cast<double>(*value));
    }
  }
  void Add(std::string_view label, std::string_view label_value, double value) {
    Add({{label, label_value}}, value);
  }

  /// Labels with an empty value are left out: to Prometheus they are the same, and an unknown
  /// attribute is absent.
  void Add(std::initializer_list<std::pair<std::string_view, std::string_view>> labels,
           double value);

  /// A histogram as the library collected it.
  void AddHistogram(const prometheus::ClientMetric& metric) { Next() = metric; }

  void Finish() { family_.metric.resize(used_); }

 private:
  prometheus::ClientMetric& Next();

  prometheus::MetricFamily& family_;
  size_t used_ = 0;
  const MetricsProfile profile_;
  const Labels* common_ = nullptr;
};

}  // namespace nicmon
