#pragma once

#include <prometheus/metric_family.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nicmon/metrics/exposition.h"
#include "serializer.h"

namespace nicmon {

/// Takes one family's samples, and makes metrics of them or writes them to a page as they come. The
/// labels of the device or port at hand are put in front of each sample's own.
class Samples {
 public:
  /// The labels of a device or port, in both forms.
  struct Labels {
    std::vector<prometheus::ClientMetric::Label> list;
    std::string text;  // see AppendLabel()
    void Add(const std::string& name, const std::string& value);
  };

  Samples(prometheus::MetricFamily& family, MetricsProfile profile)
      : family_(&family), profile_(profile) {}
  Samples(FamilyWriter& page, MetricsProfile profile) : page_(&page), profile_(profile) {}

  MetricsProfile profile() const { return profile_; }

  /// `labels` must outlive the samples added under it.
  void Under(const Labels& labels) { common_ = &labels; }

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
  void Add(LabelPairs labels, double value);

  /// A histogram as the library collected it.
  void AddHistogram(const prometheus::ClientMetric& metric);

 private:
  prometheus::MetricFamily* family_ = nullptr;
  FamilyWriter* page_ = nullptr;  // one of the two is set
  const MetricsProfile profile_;
  const Labels* common_ = nullptr;
};

}  // namespace nicmon
