#include "samples.h"

namespace nicmon {

void Samples::Add(std::initializer_list<std::pair<std::string_view, std::string_view>> labels,
                  double value) {
  prometheus::ClientMetric& metric = family_.metric.emplace_back();
  metric.label.reserve(labels.size() + (common_ != nullptr ? common_->size() : 0));
  if (common_ != nullptr) {
    metric.label.insert(metric.label.end(), common_->begin(), common_->end());
  }
  for (const auto& [name, text] : labels) {
    if (!text.empty()) {
      metric.label.push_back({std::string(name), std::string(text)});
    }
  }
  switch (family_.type) {
    case prometheus::MetricType::Counter:
      metric.counter.value = value;
      break;
    case prometheus::MetricType::Untyped:
      metric.untyped.value = value;
      break;
    default:
      metric.gauge.value = value;
  }
}

}  // namespace nicmon
