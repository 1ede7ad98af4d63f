#include "samples.h"

namespace nicmon {

void Samples::Labels::Add(const std::string& name, const std::string& value) {
  list.push_back({name, value});
  AppendLabel(text, name, value);
}

void Samples::Add(LabelPairs labels, double value) {
  if (page_ != nullptr) {
    page_->Line(common_ != nullptr ? std::string_view(common_->text) : "", labels, value);
    return;
  }
  prometheus::ClientMetric& metric = family_->metric.emplace_back();
  if (common_ != nullptr) {
    metric.label = common_->list;
  }
  for (const auto& [name, text] : labels) {
    if (!text.empty()) {
      metric.label.push_back({std::string(name), std::string(text)});
    }
  }
  switch (family_->type) {
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

void Samples::AddHistogram(const prometheus::ClientMetric& metric) {
  if (page_ != nullptr) {
    page_->Metric(metric);
  } else {
    family_->metric.push_back(metric);
  }
}

}  // namespace nicmon
