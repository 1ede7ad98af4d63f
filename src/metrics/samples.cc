#include "samples.h"

#include <algorithm>

namespace nicmon {

prometheus::ClientMetric& Samples::Next() {
  if (used_ == family_.metric.size()) {
    family_.metric.emplace_back();
  }
  return family_.metric[used_++];
}

void Samples::Add(std::initializer_list<std::pair<std::string_view, std::string_view>> labels,
                  double value) {
  prometheus::ClientMetric& metric = Next();
  size_t count = common_ != nullptr ? common_->size() : 0;
  metric.label.resize(count + labels.size());
  if (common_ != nullptr) {
    std::copy(common_->begin(), common_->end(), metric.label.begin());
  }
  for (const auto& [name, text] : labels) {
    if (!text.empty()) {
      metric.label[count].name = name;
      metric.label[count].value = text;
      ++count;
    }
  }
  metric.label.resize(count);
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
